"""Significance tests for systems that write text. Each test is a theorem with its proof,
the code that computes it, and checks that anyone can rerun.
"""

from importlib import import_module

__version__ = "0.1.0"

# Where each public name lives. It is loaded when it is first used, so that
# `import sigtext` costs nothing but this file.
_names = {
    "bootstrap": ("bootstrap_test",),
    "clusters": (
        "clustered_standard_error",
        "design_effect",
        "intraclass_correlation",
        "outermost",
    ),
    "comparison": ("Comparison", "Family", "compare", "compare_metrics"),
    "exact_kinds": ("exact_null", "exact_test"),
    "intervals": ("bootstrap_interval",),
    "kink": ("kink_interval",),
    "linearization": ("influence",),
    "mcnemar": ("mcnemar_test", "paired_proportions_interval"),
    "multiplicity": ("adjust", "common_swap_test"),
    "planning": ("detectable_effect", "power", "sample_size"),
    "procedures": ("five_by_two",),
    "randomization": ("randomization_test",),
    "runs": ("average_repeats", "compare_runs"),
    "shifts": ("shift_interval",),
    "result": (
        "InputError",
        "InputTypeError",
        "Interval",
        "SigtextWarning",
        "TestResult",
    ),
}
_modules = ("figure", "harness", "metrics", "testbeds")
_home = {name: module for module, names in _names.items() for name in names}

__all__ = [*_home, *_modules]  # noqa: PLE0604


def __getattr__(name):
    if name in _modules:
        return import_module(f"{__name__}.{name}")
    if name in _home:
        value = getattr(import_module(f"{__name__}.{_home[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
