"""Types, bounds and signatures of rustdoc's JSON as Rust writes them."""

# Names that need no path.
PRELUDE = set(
    "AsMut AsRef Box Clone Copy Debug Default DoubleEndedIterator Drop Eq ExactSizeIterator Extend Fn FnMut FnOnce "
    "From FromIterator Hash Into IntoIterator Iterator Option Ord PartialEq PartialOrd Result Send Sized String Sync "
    "ToOwned ToString TryFrom TryInto Unpin Vec".split()
)


def kind_and_inner(tagged):
    """An enum of rustdoc: its variant is a string, or the only key of an object."""
    return (tagged, None) if isinstance(tagged, str) else next(iter(tagged.items()))


class RustText:
    """Of one crate. Knows the paths at which users find its items, and those of the crates before it."""

    def __init__(self, paths, found_at):
        # Of all items that are named, by id, with the path of the definition.
        self.paths = paths
        # Of the public items of this crate, by id, and of all crates until now, by the path of the definition.
        self.public, self.found_at = {}, found_at

    def path(self, written, id):
        """The path at which users find an item; as the source names it, if it is private."""
        if id in self.public:
            return self.public[id]
        if self.is_private(id):
            return written
        path = self.paths[str(id)]["path"]
        defined_at = "::".join(path)
        if defined_at in self.found_at or len(path) == 1:
            return self.found_at.get(defined_at, defined_at)
        crate, *modules, name = path
        # Definitions are often in private modules. Other crates offer theirs at the root; those of the standard library
        # move between its crates.
        if crate not in ("std", "core", "alloc"):
            return f"{crate}::{name}"
        public = 2 if modules[:1] == ["os"] or modules[:2] == ["sync", "atomic"] else 1
        return name if name in PRELUDE else "::".join(["std", *modules[:public], name])

    def is_private(self, id):
        """Whether an item is of this crate, and users cannot name it."""
        return id not in self.public and self.paths.get(str(id), {"crate_id": 0})["crate_id"] == 0

    def named(self, inside):
        """The ids of all types and traits that a type names."""
        if isinstance(inside, dict):
            if "path" in inside and "id" in inside:
                yield inside["id"]
            inside = inside.values()
        if not isinstance(inside, (str, int, type(None))):
            for part in inside:
                yield from self.named(part)

    def type(self, tagged):
        kind, inner = kind_and_inner(tagged)
        if kind in ("primitive", "generic"):
            return "!" if inner == "never" else inner
        if kind == "resolved_path":
            return self.path(inner["path"], inner["id"]) + self.args(inner["args"])
        if kind == "borrowed_ref":
            lifetime = inner["lifetime"] + " " if inner["lifetime"] else ""
            return f"&{lifetime}{'mut ' if inner['is_mutable'] else ''}{self.type(inner['type'])}"
        if kind == "raw_pointer":
            return f"*{'mut' if inner['is_mutable'] else 'const'} {self.type(inner['type'])}"
        if kind == "slice":
            return f"[{self.type(inner)}]"
        if kind == "array":
            return f"[{self.type(inner['type'])}; {inner['len']}]"
        if kind == "tuple":
            return "(" + ", ".join(map(self.type, inner)) + ("," if len(inner) == 1 else "") + ")"
        if kind == "impl_trait":
            return "impl " + self.bounds(inner)
        if kind == "dyn_trait":
            traits = [self.higher(each["generic_params"]) + self.trait(each["trait"]) for each in inner["traits"]]
            return "dyn " + " + ".join(traits + ([inner["lifetime"]] if inner["lifetime"] else []))
        if kind == "qualified_path":
            trait = self.trait(inner["trait"]) if inner["trait"] else ""
            this = self.type(inner["self_type"])
            start = f"<{this} as {trait}>" if trait and this != "Self" else this
            return f"{start}::{inner['name']}{self.args(inner['args'])}"
        if kind == "function_pointer":
            header = self.higher(inner["generic_params"]) + self.header(inner["header"])
            return f"{header}fn{self.signature(inner['sig'])}"
        raise ValueError(f"an unknown kind of type, {kind}")

    def trait(self, trait):
        return self.path(trait["path"], trait["id"]) + self.args(trait["args"])

    def args(self, tagged):
        if not tagged:
            return ""
        kind, inner = kind_and_inner(tagged)
        if kind == "parenthesized":
            return "(" + ", ".join(map(self.type, inner["inputs"])) + ")" + self.result(inner["output"])
        if kind != "angle_bracketed":
            raise ValueError(f"an unknown kind of arguments, {kind}")
        args = [self.arg(arg) for arg in inner["args"]]
        for constraint in inner["constraints"]:
            how, what = kind_and_inner(constraint["binding"])
            value = " = " + self.arg(what) if how == "equality" else ": " + self.bounds(what)
            args.append(constraint["name"] + self.args(constraint["args"]) + value)
        return "<" + ", ".join(args) + ">" if args else ""

    def arg(self, tagged):
        kind, inner = kind_and_inner(tagged)
        if kind == "type":
            return self.type(inner)
        return {"lifetime": lambda: inner, "const": lambda: inner["expr"], "infer": lambda: "_"}[kind]()

    def bounds(self, bounds):
        return " + ".join(map(self.bound, bounds))

    def bound(self, tagged):
        kind, inner = kind_and_inner(tagged)
        if kind == "outlives":
            return inner
        if kind == "use":
            return "use<" + ", ".join(kind_and_inner(each)[1] for each in inner) + ">"
        modifier = {"none": "", "maybe": "?", "maybe_const": "~const "}[inner["modifier"]]
        return self.higher(inner["generic_params"]) + modifier + self.trait(inner["trait"])

    # Generics

    def param(self, param):
        kind, inner = kind_and_inner(param["kind"])
        if kind == "const":
            value = f" = {inner['default']}" if inner["default"] else ""
            return f"const {param['name']}: {self.type(inner['type'])}{value}"
        bounds = " + ".join(inner["outlives"]) if kind == "lifetime" else self.bounds(inner["bounds"])
        value = " = " + self.type(inner["default"]) if kind == "type" and inner["default"] else ""
        return param["name"] + (": " + bounds if bounds else "") + value

    def params(self, generics):
        # Synthetic ones are `impl Trait` in the arguments, and are shown there.
        params = [each for each in generics["params"] if not kind_and_inner(each["kind"])[1].get("is_synthetic")]
        return "<" + ", ".join(map(self.param, params)) + ">" if params else ""

    def higher(self, params):
        return "for<" + ", ".join(map(self.param, params)) + "> " if params else ""

    def where(self, generics, outer=None):
        """Of an item, and of the impl block around it. The bounds of the block's parameters are shown nowhere else."""
        predicates = [each for each in map(self.param, outer["params"] if outer else []) if ": " in each]
        for tagged in [each for one in (outer, generics) if one for each in one["where_predicates"]]:
            kind, inner = kind_and_inner(tagged)
            if kind == "bound_predicate":
                left = self.higher(inner["generic_params"]) + self.type(inner["type"])
                predicates.append(f"{left}: {self.bounds(inner['bounds'])}")
            elif kind == "lifetime_predicate":
                predicates.append(f"{inner['lifetime']}: {' + '.join(inner['outlives'])}")
            else:
                predicates.append(f"{self.type(inner['lhs'])} = {self.arg(inner['rhs'])}")
        return " where " + ", ".join(predicates) if predicates else ""

    # Functions

    def header(self, header):
        kind, _ = kind_and_inner(header["abi"])
        words = [word for word in ("const", "async", "unsafe") if header["is_" + word]]
        return "".join(word + " " for word in words) + (f'extern "{kind}" ' if kind != "Rust" else "")

    def result(self, output):
        return " -> " + self.type(output) if output else ""

    def signature(self, sig):
        inputs = [self.input(name, self.type(type)) for name, type in sig["inputs"]]
        return "(" + ", ".join(inputs + ["..."] * sig["is_c_variadic"]) + ")" + self.result(sig["output"])

    def input(self, name, type):
        if name == "self" and (type == "Self" or type[0] == "&" and type.endswith("Self") and "<" not in type):
            return type[: -len("Self")] + "self"
        return type if name in ("", "_") else f"{name}: {type}"
