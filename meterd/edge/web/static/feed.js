// The feed: the newest committed view of the floor, and the truth about its age.
// A page that has heard nothing for three seconds must not go on showing an amount.

export const STALE_MS = 3000;

export function money(cents, currency) {
  const sign = { USD: "$", EUR: "€", GBP: "£" }[currency] ?? "";
  const units = Math.floor(cents / 100).toLocaleString("en-US");
  return `${sign}${units}.${String(cents % 100).padStart(2, "0")}`;
}

export function follow(url, onView, onStale) {
  let heard = 0;
  let source = null;
  const open = () => {
    source?.close();
    source = new EventSource(url);
    source.onmessage = (event) => {
      heard = performance.now();
      onView(JSON.parse(event.data));
    };
  };
  open();
  setInterval(() => {
    const age = performance.now() - heard;
    if (age > STALE_MS) onStale();
    if (source.readyState === EventSource.CLOSED) open();
  }, 500);
}
