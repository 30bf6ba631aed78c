/* The tree loop in C, on the product's 64-byte record, so that the two can be compared node for node.

   One simulation: walk down by the rule with virtual loss on the path, make all children of the leaf at its first
   visit, credit its value up the path. Values, priors and numbers of children are hashes of the node's id, so
   the same seed gives the same tree to anybody who follows the same rule.

   Built with -O3 -march=native -fno-math-errno -ffp-contract=off: contraction is off because it would round
   differently from the other side. -ffast-math would switch the whole process to flush-to-zero. */

#include <math.h>
#include <stdint.h>

#define NONE (-1)
#define CLOSED (1u | 2u | 64u) /* DONE, UNSCORED, SPENT */

typedef struct {
    double value;
    int32_t visits, in_flight, first, next;
    float prior;
    uint32_t flags;
    double value_sum;
    int32_t parent, last, n_children, depth, n_rewards;
    float raw;
} Node;

_Static_assert(sizeof(Node) == 64, "one node is one cache line");

typedef struct {
    uint64_t seed;
    int32_t fewest, choices, deepest;
    double k[3], low;
} World;

enum { UCB1, PUCT };

static inline uint64_t hash(uint64_t seed, uint64_t id, uint64_t salt) {
    uint64_t z = seed + (id * 4u + salt) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline double unit(uint64_t h) { return (double)(h >> 11) * 0x1p-53; }

/* What all siblings share: q + c sqrt(ln N / n), or AlphaZero's q + p sqrt(N) / (1 + n) (ln((N + base + 1) / base) + init). */
static inline double above(int rule, const World *w, double n_parent) {
    if (rule == UCB1) return log(fmax(n_parent, 1.0));
    return sqrt(n_parent) * (log((n_parent + w->k[1] + 1.0) / w->k[1]) + w->k[0]);
}

static inline double score(int rule, const World *w, double up, double q, double n, double prior) {
    if (rule == UCB1) return n == 0.0 ? INFINITY : q + w->k[0] * sqrt(up / n);
    if (n == 0.0) return (isnan(q) ? w->k[2] : q) + prior * up;
    return q + prior * up / (1.0 + n);
}

/* The child to enter: the first one with the largest score; closed children and leaves being grown are passed over. */
static inline int32_t best_child(const Node *t, int32_t node, int rule, const World *w, int linked) {
    const double up = above(rule, w, (double)(t[node].visits + t[node].in_flight));
    const int32_t end = t[node].first + t[node].n_children;
    double highest = -INFINITY;
    int32_t best = NONE;
    for (int32_t c = t[node].first; linked ? c != NONE : c < end; c = linked ? t[c].next : c + 1) {
        const int32_t waiting = t[c].in_flight, n = t[c].visits + waiting;
        if (t[c].flags & CLOSED || (waiting != 0 && t[c].first == NONE)) continue;
        double q = t[c].value;
        if (waiting > 0) q = t[c].visits > 0 ? (q * t[c].visits + w->low * waiting) / n : w->low;
        const double found = score(rule, w, up, q, n, t[c].prior);
        if (found > highest || best == NONE) {
            highest = found, best = c;
            if (highest == INFINITY) break;
        }
    }
    return best;
}

static inline int32_t grow(Node *t, int32_t size, int32_t node, const World *w) {
    const int32_t n = w->fewest + (int32_t)(hash(w->seed, (uint64_t)node, 1) % (uint64_t)w->choices);
    double total = 0.0;
    for (int32_t c = size; c < size + n; c++) total += unit(hash(w->seed, (uint64_t)c, 2)) + 0.01;
    for (int32_t c = size; c < size + n; c++) {
        const float prior = (float)((unit(hash(w->seed, (uint64_t)c, 2)) + 0.01) / total);
        t[c] = (Node){.value = NAN, .first = NONE, .next = c + 1 < size + n ? c + 1 : NONE, .prior = prior,
                      .parent = node, .last = NONE, .depth = t[node].depth + 1};
    }
    t[node].first = size, t[node].last = size + n - 1, t[node].n_children = n;
    return n;
}

static inline int32_t simulate(Node *t, int32_t size, int32_t sims, int rule, const World *w, int linked) {
    for (int32_t i = 0; i < sims; i++) {
        int32_t node = 0;
        while (t[node].first != NONE) {
            const int32_t child = best_child(t, node, rule, w, linked);
            t[node].in_flight++;
            node = child;
        }
        t[node].in_flight++;
        if (t[node].depth < w->deepest) size += grow(t, size, node, w);
        const double reward = unit(hash(w->seed, (uint64_t)node, 3));
        for (; node != NONE; node = t[node].parent) {
            t[node].in_flight--;
            t[node].visits++;
            t[node].value_sum += reward;
            t[node].value = t[node].value_sum / t[node].visits;
        }
    }
    return size;
}

/* Run `sims` simulations on a tree of `size` nodes; returns its new size. `linked` follows the links of siblings
   as if they could lie anywhere, otherwise they are counted up. */
int32_t run(Node *t, int32_t size, int32_t sims, int rule, const World *w, int linked) {
    if (rule == UCB1) return linked ? simulate(t, size, sims, UCB1, w, 1) : simulate(t, size, sims, UCB1, w, 0);
    return linked ? simulate(t, size, sims, PUCT, w, 1) : simulate(t, size, sims, PUCT, w, 0);
}
