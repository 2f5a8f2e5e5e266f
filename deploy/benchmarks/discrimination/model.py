"""The discriminator's model in Python: a logistic regression with products. u = log2(t / 2), t clipped to 0.5 … 5 s;
z = (feature − mean) / scale within ±2.5; logit = bias + c u + d u² + Σ (weight + later u) z + Σ product zz (i ≤ j)."""

import pathlib
import re

import numpy as np

FILE = pathlib.Path(__file__).resolve().parents[3] / "Sources/Core/Seismology/Discrimination/DiscriminationModel.swift"
LIMIT = 2.5


def octaves(t):
    return np.log2(np.clip(t, 0.5, 5)) - 1


def probability(logit):
    return 1 / (1 + np.exp(-np.clip(logit, -700, 700)))


class Model:
    def __init__(self, names, mean, scale, values=None):
        """`values`: weights, later weights, products, c, d, bias."""
        self.names, self.mean, self.scale, self.values = tuple(names), np.asarray(mean), np.asarray(scale), values

    def terms(self, t, x):
        z = np.clip((x - self.mean) / self.scale, -LIMIT, LIMIT)
        u = octaves(np.asarray(t))[:, None]
        i, j = np.triu_indices(z.shape[1])
        return np.hstack([z, z * u, z[:, i] * z[:, j], u, u * u, np.ones_like(u)])

    def logits(self, t, x):
        return self.terms(t, x) @ self.values

    def fit(self, t, x, y, weights, penalty):
        """Of the log likelihood, weights of 1 in all, less the penalty times the squares of the values but the bias."""
        terms, penalties = self.terms(t, x), np.full(self.terms(t[:1], x[:1]).shape[1], penalty)
        penalties[-1] = 0

        def loss(v):
            logit = terms @ v
            return np.sum(weights * (np.logaddexp(0, logit) - y * logit)) + np.sum(penalties * v * v)

        # Newton's method: the loss is convex.
        v = np.zeros(terms.shape[1])
        now = loss(v)
        for _ in range(50):
            p = probability(terms @ v)
            gradient = terms.T @ (weights * (p - y)) + 2 * penalties * v
            curvature = (terms * (weights * p * (1 - p))[:, None]).T @ terms + np.diag(2 * penalties + 1e-12)
            step = np.linalg.solve(curvature, gradient)
            scale = 1.0
            while (new := loss(v - scale * step)) > now and scale > 1e-6:
                scale /= 2
            v, gained, now = v - scale * step, now - new, new
            if gained < 1e-10:
                break
        self.values = v
        return self

    @staticmethod
    def in_force():
        text = FILE.read_text()
        rows = re.findall(r'\("(\w+)", (\S+), (\S+), (\S+), (\S+)\),', text)
        columns = [np.array(c, float) for c in list(zip(*rows))[1:]]
        products = [float(v) for v in re.search(r"products: \[Double\] = \[(.*?)\]", text, re.S)[1].replace("\n", " ").split(",") if v.strip()]
        bias = float(re.search(r"let bias = (\S+)", text)[1])
        time = [float(v) for v in re.search(r"let time = \(first: (\S+), second: (\S+)\)", text).groups()]
        return Model([r[0] for r in rows], columns[0], columns[1], np.array([*columns[2], *columns[3], *products, *time, bias]))

    def swift(self):
        n = len(self.names)
        v = self.values
        rows = [f'        ("{name}", {m:.6g}, {s:.6g}, {a:.6g}, {b:.6g}),'
                for name, m, s, a, b in zip(self.names, self.mean, self.scale, v[:n], v[n : 2 * n])]
        products, lines = iter(v[2 * n : -3]), []
        for i in range(n):
            row = [f"{next(products):.5g}" for _ in range(i, n)]
            lines += ["        " + ", ".join(row[k : k + 9]) + "," for k in range(0, len(row), 9)]
        return f"""/// The constants of the discriminator: data, written by `deploy/benchmarks/discrimination/fit --write`, which says what they
/// were fitted to (deploy/docs/understand/class-figures.md has the figures).
public enum DiscriminationModel {{
    /// Each feature, in the order of ``DiscriminationFeatures``: mean and scale; weight of z = (feature − mean) / scale, and
    /// what is added to it with each octave of time.
    public static let features: [(name: String, mean: Double, scale: Double, weight: Double, later: Double)] = [
{chr(10).join(rows)}
    ]
    /// Weights of the products of two z, the first with itself and all others, then the second, and so on.
    static let products: [Double] = [
{chr(10).join(lines)}
    ]
    static let bias = {v[-1]:.6g}
    /// Weights of the octaves of time and of their square.
    static let time = (first: {v[-3]:.6g}, second: {v[-2]:.6g})
    /// Limit of a z.
    static let limit = {LIMIT}
}}
"""

    def write(self):
        FILE.write_text(self.swift())
