"""Nagios: the state of hosts and services, drawn by CGI programs in C over the files of a monitor."""

import datetime
import os
import sys

import words
from app import App, Task
from place import Missing

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = "/usr/lib/cgi-bin/nagios4"
STYLES = "/etc/nagios4/stylesheets"
STATES = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
GROUPS = {"db": "Databases", "web": "Web servers", "mail": "Mail relays", "pump": "Pumps and tanks", "cam": "Cameras"}
NOW = datetime.datetime(2025, 6, 20, 12, 0, tzinfo=datetime.timezone.utc)

# One program for each kind of page, chosen by the path.
CHOOSE = """#!/bin/sh
case "$PATH_INFO" in
  */status.cgi|*/extinfo.cgi|*/history.cgi|*/config.cgi|*/summary.cgi)
    name=${PATH_INFO##*/}
    SCRIPT_NAME="/cgi-bin/nagios4/$name" PATH_INFO= exec "%s/$name" ;;
esac
printf 'Status: 404 Not Found\\r\\nContent-Type: text/plain\\r\\n\\r\\nno such page\\n'
"""


def block(kind, **facts):
    return f"{kind} {{\n" + "".join(f"\t{name}\t{value}\n" for name, value in facts.items()) + "\t}\n\n"


def status(kind, **facts):
    return f"{kind} {{\n" + "".join(f"\t{name}={value}\n" for name, value in facts.items()) + "\t}\n\n"


def stamp(when):
    return int(when.timestamp())


def told(when):
    return when.strftime("%Y-%m-%d %H:%M:%S")


class Nagios(App):
    name = "nagios"
    kind = "monitoring tables"
    debian = ("nagios4-cgi", "nagios4-common")
    hosts = ("nagios.test",)
    port = 8661
    ready = "/cgi-bin/nagios4/status.cgi?host=all"

    def machines(self):
        by = words.seeded("nagios-hosts")
        for kind in GROUPS:
            for at in range(1, 13):
                yield {
                    "host": f"{kind}{at}",
                    "group": kind,
                    "alias": f"{by.choice(words.SHIPS).capitalize()} rack {by.randint(1, 40)} in {by.choice(words.CITIES)}",
                    "address": f"10.{by.randint(1, 30)}.{by.randint(0, 254)}.{by.randint(1, 254)}",
                    "down": by.random() < 0.06,
                }

    def services(self):
        """What the monitor knows of each service, in the order of its files."""
        by = words.seeded("nagios-services")
        for machine in self.machines():
            names = ["CPU load", "Disk /", "Disk /srv", "PING", "SSH", "Zeit (NTP)"]
            names += {
                "db": ["PostgreSQL 5432"],
                "web": ["HTTP", "HTTPS Zertifikat"],
                "mail": ["SMTP", "Queue"],
                "pump": ["Füllstand Öltank", "Druck"],
                "cam": ["RTSP"],
            }[machine["group"]]
            for name in sorted(names):
                state = by.choices((0, 1, 2, 3), (70, 13, 12, 5))[0]
                free, loss, load = by.randint(3, 97), by.choice((0, 0, 0, 20, 100)), by.randint(1, 1999) / 100
                text = {
                    "CPU load": f"load average: {load:.2f}, {load * 0.9:.2f}, {load * 0.7:.2f}",
                    "Disk /": f"DISK {STATES[state]} - free space: / {free * 411} MB ({free}% inode={by.randint(50, 99)}%)",
                    "Disk /srv": f"DISK {STATES[state]} - free space: /srv {free * 8213} MB ({free}% inode={by.randint(50, 99)}%)",
                    "PING": f"PING {STATES[state]} - Packet loss = {loss}%, RTA = {by.randint(10, 9999) / 100:.2f} ms",
                    "SSH": "CRITICAL - Socket timeout after 10 seconds" if state == 2 else f"SSH {STATES[state]} - port 22 (protocol 2.0)",
                    "Füllstand Öltank": f"Öltank {by.choice(words.PORTS)}: {free} % voll, {free * 37} l übrig",
                    "Druck": f"{STATES[state]}: Druck {by.randint(80, 620) / 100:.2f} bar, Soll < 6.50 bar & > 1.00 bar",
                }.get(name, f"{name} {STATES[state]}: answered after {by.randint(1, 4000)} ms")
                checked = NOW - datetime.timedelta(seconds=by.randint(5, 900))
                yield {
                    "host": machine["host"],
                    "group": machine["group"],
                    "service": name,
                    "state": state,
                    "text": text,
                    "perf": f"time={by.randint(1, 9999) / 1000:.3f}s;;;0.000",
                    "checked": checked,
                    "changed": checked - datetime.timedelta(seconds=by.randint(60, 9_000_000)),
                    "attempt": 1 if state == 0 else by.randint(1, 4),
                }

    def fill(self):
        if not os.path.isdir(PROGRAMS):
            raise Missing(f"there is no {PROGRAMS}")
        where = self.place.data
        www = os.path.join(where, "www", "nagios4")
        os.makedirs(www)
        # The pages link to these; nothing else of the folder is needed.
        for name, target in (
            ("stylesheets", STYLES),
            ("images", "/usr/share/nagios4/htdocs/images"),
            ("js", "/usr/share/nagios4/htdocs/js"),
        ):
            os.symlink(target, os.path.join(www, name))
        self.write(
            "nagios.cfg",
            f"object_cache_file={where}/objects.cache\nstatus_file={where}/status.dat\nlog_file={where}/nagios.log\n"
            + "date_format=iso8601\ninterval_length=60\n",
        )
        self.write(
            "cgi.cfg",
            f"main_config_file={where}/nagios.cfg\nphysical_html_path=/usr/share/nagios4/htdocs\nurl_html_path=/nagios4\n"
            "use_authentication=0\nrefresh_rate=90\nresult_limit=100\nescape_html_tags=1\nshow_context_help=0\nuse_pending_states=1\n",
        )
        self.write("nagios.log", "")
        self.write("choose", CHOOSE % PROGRAMS)
        os.chmod(os.path.join(where, "choose"), 0o755)
        self.objects()
        self.states()

    def write(self, name, text):
        with open(os.path.join(self.place.data, name), "w", encoding="utf-8") as file:
            file.write(text)

    def objects(self):
        machines = sorted(self.machines(), key=lambda it: it["host"])
        text = block("define timeperiod", timeperiod_name="always", alias="Always", monday="00:00-24:00")
        text += block("define command", command_name="check", command_line="/bin/true")
        text += block(
            "define contact",
            contact_name="watch",
            alias="Watch",
            host_notification_period="always",
            service_notification_period="always",
            host_notification_commands="check",
            service_notification_commands="check",
        )
        for name, alias in sorted(GROUPS.items()):
            members = ",".join(it["host"] for it in machines if it["group"] == name)
            text += block("define hostgroup", hostgroup_name=name, alias=alias, members=members)
        for it in machines:
            text += block(
                "define host",
                host_name=it["host"],
                display_name=it["host"],
                alias=it["alias"],
                address=it["address"],
                check_command="check",
                check_period="always",
                notification_period="always",
                contacts="watch",
                check_interval="5.000000",
                retry_interval="1.000000",
                max_check_attempts="4",
            )
        for it in sorted(self.services(), key=lambda it: (it["host"], it["service"])):
            text += block(
                "define service",
                host_name=it["host"],
                service_description=it["service"],
                display_name=it["service"],
                check_command="check",
                check_period="always",
                notification_period="always",
                contacts="watch",
                check_interval="5.000000",
                retry_interval="1.000000",
                max_check_attempts="4",
            )
        self.write("objects.cache", text)

    def states(self):
        text = status("info", created=stamp(NOW), version="4.4.6")
        text += status(
            "programstatus",
            nagios_pid=1,
            daemon_mode=1,
            program_start=stamp(NOW) - 90_000,
            enable_notifications=1,
            active_service_checks_enabled=1,
            active_host_checks_enabled=1,
        )
        for it in self.machines():
            text += status(
                "hoststatus",
                host_name=it["host"],
                has_been_checked=1,
                should_be_scheduled=1,
                current_state=int(it["down"]),
                plugin_output="CRITICAL - Host Unreachable" if it["down"] else "PING OK - Packet loss = 0%",
                state_type=1,
                current_attempt=1,
                max_attempts=4,
                last_check=stamp(NOW) - 60,
                last_state_change=stamp(NOW) - 200_000,
                active_checks_enabled=1,
                notifications_enabled=1,
            )
        for it in self.services():
            text += status(
                "servicestatus",
                host_name=it["host"],
                service_description=it["service"],
                has_been_checked=1,
                should_be_scheduled=1,
                check_execution_time="0.041",
                check_latency="0.000",
                check_type=0,
                current_state=it["state"],
                last_hard_state=it["state"],
                current_attempt=it["attempt"],
                max_attempts=4,
                state_type=int(it["attempt"] in (1, 4)),
                last_state_change=stamp(it["changed"]),
                last_check=stamp(it["checked"]),
                next_check=stamp(it["checked"]) + 300,
                plugin_output=it["text"],
                performance_data=it["perf"],
                active_checks_enabled=1,
                passive_checks_enabled=1,
                notifications_enabled=1,
                last_update=stamp(NOW),
            )
        self.write("status.dat", text)

    def command(self, port):
        program = os.path.join(self.place.data, "choose")
        args = [sys.executable, "-B", os.path.join(HERE, "cgi_server.py"), port, program, "/cgi-bin/nagios4"]
        return [*args, os.path.join(self.place.data, "www")], None, {"NAGIOS_CGI_CONFIG": os.path.join(self.place.data, "cgi.cfg")}

    def row(self, it):
        return {
            "service": it["service"],
            "host": it["host"],
            "state": STATES[it["state"]],
            "text": it["text"],
            "checked": told(it["checked"]),
            "attempt": f"{it['attempt']}/4",
        }

    def found(self, choose, key=lambda it: (it["host"], it["service"])):
        return [self.row(it) for it in sorted(self.services(), key=key) if choose(it)]

    def tasks(self):
        pages = "http://nagios.test/cgi-bin/nagios4"
        both = [
            {"host": "db7", "service": "Disk /srv"},
            {"host": "pump2", "service": "Füllstand Öltank"},
            {"host": "web11", "service": "CPU load"},
            {"host": "pump10", "service": "Druck"},
        ]
        return [
            Task(
                "nagios-host",
                "Show the state of the services of the host {host}",
                f"{pages}/status.cgi?hostgroup=all&style=hostdetail",
                [{"host": it} for it in ("db1", "pump12", "web2", "mail11")],
                [{"navigate": f"{pages}/status.cgi?host={{host}}"}, {"wait_for": {"text": "Service Status Details"}}],
                # The host is what was asked for; each row need not say it again.
                lambda values: [
                    {name: fact for name, fact in it.items() if name != "host"}
                    for it in self.found(lambda it: it["host"] == values["host"])
                ],
                endpoint="/status.cgi",
                ways=("steps", "har"),
            ),
            Task(
                "nagios-critical",
                "List the critical services of the host group {group}, the one checked last first",
                f"{pages}/status.cgi?hostgroup=all&style=overview",
                [{"group": it} for it in ("db", "pump", "web", "mail")],
                [
                    {"click": {"role": "link", "name": "{group}"}},
                    {"wait_for": {"request": "hostgroup={group}"}},
                    {"navigate": f"{pages}/status.cgi?hostgroup={{group}}&style=detail&servicestatustypes=16&sorttype=2&sortoption=4"},
                    {"wait_for": {"text": "Display Filters"}},
                ],
                lambda values: self.found(
                    lambda it: it["group"] == values["group"] and it["state"] == 2, key=lambda it: -stamp(it["checked"])
                ),
                ordered=True,
                endpoint="/status.cgi",
                ways=("steps", "har"),
            ),
            Task(
                "nagios-service",
                "Show what is known of the service {service} on {host}",
                f"{pages}/status.cgi?host=all",
                both,
                [{"navigate": f"{pages}/extinfo.cgi?type=2&host={{host}}&service={{service}}"}, {"wait_for": {"text": "Performance Data"}}],
                self.detail,
                min_items=None,
                endpoint="/extinfo.cgi",
                ways=("steps", "har"),
            ),
            Task(
                "nagios-group",
                "List the services of the host group {group}",
                f"{pages}/status.cgi?hostgroup=all&style=summary",
                [{"group": it} for it in ("cam", "pump", "db", "web")],
                [
                    {"navigate": f"{pages}/status.cgi?hostgroup={{group}}&style=detail"},
                    {"wait_for": {"text": "Service Status Details"}},
                ],
                lambda values: self.found(lambda it: it["group"] == values["group"]),
                page=100,
                endpoint="/status.cgi",
                ways=("steps", "har"),
            ),
        ]

    def detail(self, values):
        """The record as pairs of a name and a value, or as one."""
        it = next(it for it in self.services() if it["host"] == values["host"] and it["service"] == values["service"])
        facts = {
            "Current Status": STATES[it["state"]],
            "Status Information": it["text"],
            "Performance Data": it["perf"],
            "Current Attempt": f"{it['attempt']}/4 ({'HARD' if it['attempt'] in (1, 4) else 'SOFT'} state)",
            "Last Check Time": told(it["checked"]),
            "Check Type": "ACTIVE",
            "Check Latency / Duration": "0.000 / 0.041 seconds",
            "Next Scheduled Check": told(it["checked"] + datetime.timedelta(seconds=300)),
            "Last State Change": told(it["changed"]),
            "Last Notification": "N/A",
            "Is This Service Flapping": "N/A",
            "In Scheduled Downtime": "NO",
            "Last Update": told(NOW),
        }
        return [{"name": name, "value": value} for name, value in facts.items()], [facts]
