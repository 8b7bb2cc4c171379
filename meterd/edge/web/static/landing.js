// The landing page: what is on this floor, live.

import { follow, money } from "./feed.js";

const $ = (id) => document.getElementById(id);

function cell(text, className) {
  const td = document.createElement("td");
  td.textContent = text;
  if (className) td.className = className;
  return td;
}

function row(...cells) {
  const tr = document.createElement("tr");
  tr.append(...cells);
  return tr;
}

function chip(text) {
  const td = document.createElement("td");
  const span = document.createElement("span");
  span.className = `chip ${text.toLowerCase()}`;
  span.textContent = text;
  td.append(span);
  return td;
}

function card(id, link, currency) {
  const node = document.createElement("a");
  node.className = "card";
  node.href = `/sign/${encodeURIComponent(id)}`;
  const head = document.createElement("h3");
  head.textContent = id;
  const sub = document.createElement("p");
  sub.className = "sub";
  sub.textContent = `${link.paytable} · ${money(link.wager_cents, currency)} a unit`;
  node.append(head, sub);
  for (const [name, level] of Object.entries(link.levels)) {
    const line = document.createElement("p");
    line.className = "line";
    const label = document.createElement("span");
    label.textContent = name;
    const amount = document.createElement("strong");
    amount.textContent = money(level.display_cents, currency);
    line.append(label, amount);
    node.append(line);
  }
  return node;
}

function seats(table) {
  const accepted = new Set(table.accepted);
  const present = new Set(table.present);
  const td = document.createElement("td");
  td.className = "seats";
  for (let seat = 1; seat <= table.seats; seat += 1) {
    const dot = document.createElement("i");
    const state = accepted.has(seat) ? "accepted" : present.has(seat) ? "present" : "empty";
    dot.className = state;
    dot.title = `seat ${seat}: ${state}`;
    td.append(dot);
  }
  return td;
}

// Awards that still ask for a person: first those to confirm, then those to pay; the oldest has waited longest.
const UNSETTLED = ["pending", "held", "confirmed"];

function award(a, currency) {
  return row(cell(a.id), cell(a.table), cell(a.seat), cell(a.hand), cell(money(a.amount_cents, currency), "n"), chip(a.status));
}

function showAwards(all, currency) {
  const rank = (a) => (a.status === "confirmed" ? 1 : 0);
  const unsettled = all.filter((a) => UNSETTLED.includes(a.status)).sort((a, b) => rank(a) - rank(b));
  const settled = all.filter((a) => !UNSETTLED.includes(a.status)).reverse();
  $("nothing").hidden = unsettled.length > 0;
  $("none").hidden = settled.length > 0;
  $("unsettled").replaceChildren(...unsettled.map((a) => award(a, currency)));
  $("awards").replaceChildren(...settled.map((a) => award(a, currency)));
}

// A table is closed by one of these: which, why, and what answers in its place.
function showAway(devices) {
  const away = Object.entries(devices).filter(([, device]) => !device.up);
  $("away").hidden = away.length === 0;
  $("devices").replaceChildren(...away.map(([id, device]) => row(cell(id), cell(device.cause ?? "not heard yet"), cell(device.found ?? ""))));
}

function closed(reason) {
  $("closed").className = "";
  $("closed").hidden = !reason;
  $("closed").textContent = reason ? `Closed: ${reason}` : "";
  document.body.classList.toggle("stale", Boolean(reason));
}

follow(
  "/events",
  (view) => {
    closed(view.closed);
    $("demo").hidden = !view.demo;
    $("about").textContent = view.site ? `table-game progressives of ${view.site}` : "table-game progressives";
    $("seq").textContent = view.seq ?? "–";
    $("links").replaceChildren(...Object.entries(view.links ?? {}).map(([id, link]) => card(id, link, view.currency)));
    $("tables").replaceChildren(
      ...Object.entries(view.tables ?? {}).map(([id, t]) =>
        row(cell(id), cell(t.game), cell(t.link), chip(t.state), seats(t), cell(t.round, "n"), cell(t.text.filter(Boolean).join(" · "), "pad")),
      ),
    );
    showAway(view.devices ?? {});
    if (view.awards) showAwards(view.awards, view.currency); // nothing is said of awards before the first news of them
  },
  () => closed("no news from the controller"),
);
