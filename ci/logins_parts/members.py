"""What an application with accounts is, and what a task behind its login."""

import dataclasses
import os

from app import App, Task

FIRST, SECOND = "mira", "tomas"


@dataclasses.dataclass
class Behind(Task):
    """A task of an account. `truth` takes the values and the account; `None` for what the account may not see."""

    # What a stranger gets is the same: the recipe needs no login.
    ways: tuple = ("steps", "har")
    public: bool = False
    # What the accounts share, so that a second login proves nothing.
    shared: bool = False

    def rows(self, values, account):
        return self.truth(values, account)


class Members(App):
    """An application with two accounts, `FIRST` and `SECOND`. It may use what another one has installed."""

    # The application of `ci/apps` whose packages it runs on.
    packages_of = None
    login = "/login"
    # What `session login` fills in, and the accounts' names and passwords.
    fields = ('textbox "Username"', 'textbox "Password"')
    # The server asks for name and password, and no page.
    basic = False
    # Where the application makes its own passwords.
    words = {FIRST: "Grey-Heron-41", SECOND: "Blue-Tit-87"}

    def __init__(self, work):
        super().__init__(work)
        self.packages = None
        if self.packages_of:
            self.packages = self.packages_of(work)
            self.place.venv, self.place.npm = self.packages.place.venv, self.packages.place.npm

    def install(self):
        if not self.packages:
            return super().install()
        with self.packages.place.locked():
            return self.packages.install()

    def account(self, account):
        """What is typed as the name."""
        return account

    def write_files(self, files):
        """Files of the application's data folder, by name."""
        for name, text in files.items():
            path = os.path.join(self.place.data, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


