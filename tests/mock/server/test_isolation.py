"""Worlds never see one another, whatever is done in them and in whatever order."""

from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.mock.admin.conftest import Driver, Time

from understudy.mock.settings import Settings

NAMES = ("default", "one", "two", "three")
WORLDS = st.sampled_from(NAMES)
PEOPLE = ("ada", "ben")


class Model:
    """What one world should be."""

    def __init__(self) -> None:
        self.locations = {"ada": "Port Lindry", "ben": ""}
        self.tokens: set[str] = set()
        self.asked = 0
        self.used = 0
        self.ahead = timedelta()
        self.down = False


class Worlds(RuleBasedStateMachine):
    """Interleaves calls on several worlds beside one model each."""

    @initialize()
    def start(self) -> None:
        self.driver = Driver(Settings(), Time())
        self.models = {name: Model() for name in NAMES}
        for name in NAMES[1:]:
            self.driver.admin("POST", "/worlds", {"name": name, "seed": 1})

    def prefix(self, name: str) -> str:
        return "" if name == "default" else f"/__world/{name}"

    @rule(name=WORLDS, who=st.sampled_from(PEOPLE), location=st.text("abc", max_size=3))
    def edit(self, name: str, who: str, location: str) -> None:
        model = self.models[name]
        url = f"{self.prefix(name)}/v3/me/profile"
        answer = self.driver.ask("PATCH", url, json={"location": location}, token=f"{who}-full")
        model.asked += 1
        assert answer.status_code == 200
        model.locations[who] = location

    @rule(name=WORLDS)
    def mint(self, name: str) -> None:
        path = f"{self.prefix(name)}/__admin/tokens"
        token = self.driver.ask("POST", path, json={"person": "ada"}).json()["token"]
        self.models[name].tokens.add(token)

    @rule(name=WORLDS)
    def look_up(self, name: str) -> None:
        model = self.models[name]
        answer = self.driver.get(f"{self.prefix(name)}/v3/profiles/ada")
        model.asked += 1
        if model.down:
            assert answer.status_code == 503
            return
        model.used += 1
        assert answer.json()["location"] == model.locations["ada"]
        assert answer.headers["x-ratelimit-remaining"] == str(100 - model.used)

    @rule(name=WORLDS, minutes=st.integers(1, 90))
    def advance(self, name: str, minutes: int) -> None:
        path = f"{self.prefix(name)}/__admin/clock/advance"
        self.driver.ask("POST", path, json={"seconds": minutes * 60})
        self.models[name].ahead += timedelta(minutes=minutes)
        self.driver.ask("DELETE", f"{self.prefix(name)}/__admin/limits/anonymous")
        self.models[name].used = 0

    @rule(name=WORLDS)
    def break_or_mend(self, name: str) -> None:
        model = self.models[name]
        faults = f"{self.prefix(name)}/__admin/faults"
        if model.down:
            self.driver.ask("DELETE", faults)
        else:
            self.driver.ask("POST", faults, json={"operation": "getProfile", "status": 503})
        model.down = not model.down

    @rule(name=WORLDS)
    def reset(self, name: str) -> None:
        self.driver.ask("POST", f"{self.prefix(name)}/__admin/reset")
        self.models[name] = Model()

    @invariant()
    def each_world_is_as_its_model(self) -> None:
        if not hasattr(self, "models"):
            return
        for world in self.driver.mock.worlds:
            model = self.models[world.name]
            assert len(world.journal) == model.asked
            assert bool(world.faults) is model.down
            assert world.clock.now() == Time().now + model.ahead
        minted = [token for model in self.models.values() for token in model.tokens]
        assert len(minted) == len(set(minted))

    def teardown(self) -> None:
        if hasattr(self, "driver"):
            self.driver.close()


TestWorlds = Worlds.TestCase
TestWorlds.settings = settings(max_examples=15, stateful_step_count=25)
