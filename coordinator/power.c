#include "coordinator/power.h"

#include <math.h>

/* An unevaluated sum, |low| at most half a last place of high. Every product and sum below stands in a
 * statement of its own: a compiler may contract within an expression, which would round otherwise. */
struct twofold {
    double high, low;
};

enum { LOG_TERMS = 24, EXP_TERMS = 28 };

static const struct twofold ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

/* Exact (Knuth). */
static struct twofold sum_of(double a, double b)
{
    double sum = a + b;
    double part = sum - a;
    double rest = sum - part;
    double lost_a = a - rest;
    double lost_b = b - part;
    return (struct twofold){sum, lost_a + lost_b};
}

/* Halves of 26 bits (Veltkamp); |a| is far below 2^996 here. */
static struct twofold split(double a)
{
    double scaled = a * 134217729.0;
    double apart = scaled - a;
    double high = scaled - apart;
    return (struct twofold){high, a - high};
}

/* Exact (Dekker): each of the four products has at most 53 bits. */
static struct twofold product_of(double a, double b)
{
    struct twofold x = split(a), y = split(b);
    double product = a * b;
    double hh = x.high * y.high, hl = x.high * y.low, lh = x.low * y.high, ll = x.low * y.low;
    double rest = hh - product;
    rest = rest + hl;
    rest = rest + lh;
    rest = rest + ll;
    return (struct twofold){product, rest};
}

static struct twofold add(struct twofold a, struct twofold b)
{
    struct twofold high = sum_of(a.high, b.high), low = sum_of(a.low, b.low);
    double carry = high.low + low.high;
    struct twofold sum = sum_of(high.high, carry);
    double rest = sum.low + low.low;
    return sum_of(sum.high, rest);
}

static struct twofold multiply(struct twofold a, struct twofold b)
{
    struct twofold product = product_of(a.high, b.high);
    double one = a.high * b.low, other = a.low * b.high;
    double rest = product.low + one;
    rest = rest + other;
    return sum_of(product.high, rest);
}

static struct twofold negative(struct twofold a)
{
    return (struct twofold){-a.high, -a.low};
}

/* By two steps of the long division. */
static struct twofold divide(struct twofold a, struct twofold b)
{
    double first = a.high / b.high;
    struct twofold rest = add(a, negative(multiply(b, (struct twofold){first, 0})));
    double second = rest.high / b.high;
    rest = add(rest, negative(multiply(b, (struct twofold){second, 0})));
    double third = rest.high / b.high;
    return add(sum_of(first, second), (struct twofold){third, 0});
}

/* x = m 2^e with m within sqrt(1/2) and sqrt(2); ln m = 2 artanh((m - 1) / (m + 1)). */
static struct twofold logarithm(double x)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m = m * 2;
        exponent--;
    }
    struct twofold s = divide(sum_of(m, -1), sum_of(m, 1)), square = multiply(s, s), series = {0, 0};
    for (int k = LOG_TERMS; k >= 0; k--)
        series =
            add(multiply(series, square), divide((struct twofold){1, 0}, (struct twofold){2.0 * k + 1, 0}));
    struct twofold mantissa = multiply(multiply(s, (struct twofold){2, 0}), series);
    return add(multiply(ln2, (struct twofold){exponent, 0}), mantissa);
}

/* e^t = 2^k e^r with |r| at most ln(2) / 2, by its series. */
static double exponential(struct twofold t)
{
    double k = floor(t.high / ln2.high + 0.5);
    struct twofold r = add(t, negative(multiply(ln2, (struct twofold){k, 0}))), series = {1, 0};
    for (int n = EXP_TERMS; n >= 1; n--) {
        series = multiply(series, r);
        series = divide(series, (struct twofold){n, 0});
        series = add(series, (struct twofold){1, 0});
    }
    return ldexp(series.high, (int)k);
}

double power(double x, double y)
{
    if (!isfinite(x) || !isfinite(y) || !(x > 0))
        return NAN;
    struct twofold t = multiply(logarithm(x), (struct twofold){y, 0});
    if (!(fabs(t.high) < 740))
        return t.high > 0 ? INFINITY : 0;
    return exponential(t);
}
