// The sign of one link. It shows whole cents that are committed, counts upwards between two committed values,
// never above the newer one, and jumps down at once.

import { follow, money } from "./feed.js";

const ROLL_MS = 900;
const link = decodeURIComponent(location.pathname.split("/").pop());
const body = document.getElementById("sign");
const levels = document.getElementById("levels");
const win = document.getElementById("win");
const demo = document.getElementById("demo");
const where = document.getElementById("where");
const stale = document.getElementById("stale");
const notice = document.getElementById("notice");
const closedText = document.getElementById("closed");
stale.textContent = "connecting";
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

const meters = new Map(); // level → { node, amount, from, to, began }

function meterFor(name, only) {
  let meter = meters.get(name);
  if (meter) return meter;
  const node = document.createElement("section");
  node.className = "level";
  node.dataset.level = name;
  const label = document.createElement("h1");
  label.textContent = only ? "Progressive" : name;
  const amount = document.createElement("p");
  amount.className = "amount";
  node.append(label, amount);
  levels.append(node);
  meter = { node, amount, from: null, to: null, began: 0, text: "" };
  meters.set(name, meter);
  return meter;
}

function paint(meter, cents) {
  const text = money(cents, meter.currency);
  if (text === meter.text) return;
  meter.amount.setAttribute("aria-label", text);
  const old = meter.text.padStart(text.length);
  meter.amount.replaceChildren(
    ...[...text].map((char, index) => {
      const span = document.createElement("span");
      span.textContent = char;
      if (/\d/.test(char)) {
        span.className = char === old[index] || meter.text === "" ? "digit" : "digit turned";
      } else {
        span.className = "mark";
      }
      return span;
    }),
  );
  meter.text = text;
}

function frame(now) {
  for (const meter of meters.values()) {
    if (meter.to === null) continue;
    const part = calm ? 1 : Math.min(1, (now - meter.began) / ROLL_MS);
    const eased = 1 - (1 - part) ** 3;
    paint(meter, Math.min(meter.to, Math.floor(meter.from + (meter.to - meter.from) * eased)));
  }
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);

function close(reason) {
  body.className = "closed";
  closedText.textContent = "Closed";
  stale.textContent = reason ?? "";
}

follow(
  `/events?link=${encodeURIComponent(link)}`,
  (view) => {
    document.title = view.demo ? `DEMO · ${link}` : link;
    demo.hidden = !view.demo;
    where.textContent = [view.site, link].filter(Boolean).join(" · ");
    notice.textContent = view.link?.disclosure ?? "";
    notice.hidden = !notice.textContent;
    if (view.closed || !view.link) {
      close(view.closed ?? "no such link");
      return;
    }
    const names = Object.keys(view.link.levels);
    body.className = `open levels-${names.length}`;
    stale.textContent = "";
    for (const name of names) {
      const meter = meterFor(name, names.length === 1);
      meter.currency = view.currency;
      const cents = view.link.levels[name].display_cents;
      if (cents === meter.to) continue;
      const rising = meter.to !== null && cents > meter.to;
      meter.from = rising ? Math.max(meter.to - 0, 0) : cents;
      meter.to = cents;
      meter.began = performance.now();
    }
    const waiting = view.awards.filter((a) => a.status === "pending" || a.status === "held");
    const big = waiting.sort((a, b) => b.amount_cents - a.amount_cents)[0];
    win.hidden = !big;
    body.classList.toggle("winning", Boolean(big));
    if (big) win.textContent = `Winner at ${big.table}, seat ${big.seat} · ${money(big.amount_cents, view.currency)} · being verified`;
  },
  () => close("no news from the controller"),
);
