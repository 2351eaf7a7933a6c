#!/usr/bin/env python3
"""Sentences of public instruction sets with what they mean, for `prehend eval reading`.

    python3 tests/peers/public_sentences.py calvin  CHECKOUT > calvin.jsonl
    python3 tests/peers/public_sentences.py rlbench CHECKOUT > rlbench.jsonl

CHECKOUT is a clone of github.com/mees/calvin (commit fa03f01, MIT) or github.com/stepjam/RLBench (its licence does not let its
sentences stand here; what they mean stands in tests/language/rlbench_means.json, in the order in which this file finds them). Needs
pyyaml for calvin. A task of CALVIN has one meaning, whatever words it is told with; of RLBench's tasks those are left out that no skill
is for (tools that are wielded, liquids, screws, ropes, games, lids that turn).
"""
import ast
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent

# What an RLBench task says for %s, where it is not a colour.
NAMES = {
    "close_drawer": "bottom", "open_drawer": "bottom", "put_item_in_drawer": "middle", "take_item_out_of_drawer": "top",
    "meat_off_grill": "steak", "meat_on_grill": "chicken", "place_shape_in_shape_sorter": "cube", "pick_and_lift_small": "cube",
    "put_groceries_in_cupboard": "crackers", "put_money_in_safe": "middle", "take_money_out_safe": "bottom",
    "slide_cabinet_open": "left", "slide_cabinet_open_and_place_cups": "right", "take_cup_out_from_cabinet": "left",
    "turn_tap": "left", "take_off_weighing_scales": "green", "weighing_scales": "yellow",
    "put_plate_in_colored_dish_rack": "red", "take_plate_off_colored_dish_rack": "blue",
}


def rlbench_sentences(checkout):
    """Task and sentences, in the order of the files."""
    for path in sorted((checkout / "rlbench" / "tasks").glob("*.py")):
        found = []
        for function in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(function, ast.FunctionDef) and function.name == "init_episode"):
                continue
            for listed in (node for node in ast.walk(function) if isinstance(node, ast.List)):
                for item in listed.elts:
                    if isinstance(item, ast.BinOp):
                        item = item.left
                    if isinstance(item, ast.JoinedStr):
                        text = "".join(v.value if isinstance(v, ast.Constant) else "%s" for v in item.values)
                    elif isinstance(item, ast.Constant) and isinstance(item.value, str):
                        text = item.value
                    else:
                        continue
                    if " " in text:
                        text = text.replace("%s", NAMES.get(path.stem, "red")).replace("%d", "2")
                        if text not in found:
                            found.append(text)
        yield path.stem, found


def rlbench(checkout):
    means = json.loads((HERE.parent / "language" / "rlbench_means.json").read_text())
    for task, sentences in rlbench_sentences(checkout):
        # null: broken off in the source
        for text, meaning in zip(sentences, means.get(task, [])):
            if meaning is not None:
                yield task, text, meaning


def calvin_meanings(task):
    """Every notation of what a task of CALVIN means."""
    colour = next((c for c in ("red", "blue", "pink") if c in task), "")
    side = "left" if task.endswith("left") else "right"
    block = f"the {colour} block"
    things = ["it", "the block", "the thing", "the thing [held]", "the block [held]"]
    places = ["the shelf", "the sliding cabinet", "the cabinet", "the slider"]
    if task.startswith("rotate"):
        done = [f"no:{verb}({{}}{end})" for verb in ("rotate", "turn") for end in ("", f" -> shift {side}")]
        return [d.format(block) for d in done] + [f"pick({block}); {d.format('it')}" for d in done]
    if task.startswith("push") and colour:
        return [f"place({block} -> shift {side})"]
    if task.startswith("move_slider"):
        moved = [f"place({door} -> {how} {side})" for door in ("the door", "the sliding door") for how in ("shift", "region")]
        return [a + m + z for m in moved for a in ("", "pick(the door handle); ") for z in ("", "; drop(it -> table)")]
    if task in ("open_drawer", "close_drawer"):
        verbs = ("open", "pull") if task == "open_drawer" else ("close", "push")
        done = [f"{verb}(the {drawer}{by})" for verb in verbs for drawer in ("drawer", "cabinet drawer") for by in ("", "; by handle")]
        return done + [f"pick({what}); {verbs[0]}(it)" for what in ("the drawer handle", "the drawer; by handle")]
    if task.startswith("lift"):
        where = {
            "table": ["", " [on_table]"],
            "slider": [f" [{at} {place}]" for at in ("at", "in", "on") for place in places],
            "drawer": [" [at the drawer]", " [in the drawer]"],
        }[task.rsplit("_", 1)[1]]
        picks = [f"pick({block}{at})" for at in where]
        return picks + [pick + "; pick(it)" for pick in picks] + [f"go({block}{at}); pick(it)" for at in where]
    if task == "place_in_slider":
        return [f"place({thing} -> in {place})" for thing in things for place in places]
    if task == "place_in_drawer":
        return [f"place({thing} -> in the drawer)" for thing in things] + ["go(the drawer); place(the thing -> to the drawer)"]
    if task == "push_into_drawer":
        return [f"place({thing} -> in the drawer)" for thing in things]
    if task == "stack_block":
        one = [f"place({thing} -> on {other})" for thing in things for other in ("a block", "a thing")]
        return one + ["place(all block -> stacked)", "place(the block [held] -> stacked)"]
    if task == "unstack_block":
        one = ["the block [on a thing]", "a block [at the stack]", "the block [on other block]", "the block +side top"]
        return [f"place({thing} -> table)" for thing in one + ["all block", "all block [on a thing]"]] + [
            "go(the tower of blocks); place(the block +side top -> table)"
        ]
    lights = ["light bulb", "yellow light", "yellow lamp"] if "lightbulb" in task else ["led light", "led", "led lamp", "green light", "green lamp"]
    verb = "turn on" if "_on_" in task else "turn off"
    parts = ["", "; by switch", "; by light switch", "; by button"]
    return [f"{verb}(the {light}{part})" for light in lights for part in parts]


def calvin(checkout):
    import yaml

    folder = checkout / "calvin_models" / "conf" / "annotations"
    for name in ("new_playtable.yaml", "new_playtable_validation.yaml"):
        for task, sentences in yaml.safe_load((folder / name).read_text()).items():
            # Of blue and pink blocks the same is said as of red ones.
            if "blue" in task or "pink" in task:
                continue
            for text in sentences:
                yield task, text, calvin_meanings(task)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("calvin", "rlbench"):
        sys.exit(__doc__)
    sets = {"calvin": calvin, "rlbench": rlbench}
    for task, text, meaning in sets[sys.argv[1]](pathlib.Path(sys.argv[2])):
        print(json.dumps({"goal": text, "means": meaning, "group": task}))


if __name__ == "__main__":
    main()
