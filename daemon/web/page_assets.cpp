// daemon/web/page_assets.cpp - style and script of the status page.
#include "daemon/web/page_assets.h"

namespace spintag::daemon {

const char* const kPageStyle = R"css(
:root { color-scheme: light dark; --ink: #1c2024; --soft: #60646c; --line: #e0e1e6; --card: #ffffff; --ground: #f4f5f7;
  --good: #2b8a5b; --bad: #c4382d; --wait: #b7791f; --accent: #3a5bc7; }
@media (prefers-color-scheme: dark) { :root { --ink: #edeef0; --soft: #a0a6ad; --line: #2e3135; --card: #18191b;
  --ground: #0f1011; --good: #4cc38a; --bad: #ff6b5e; --wait: #f5b955; --accent: #8da4ef; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
header, main, footer { max-width: 72rem; margin: 0 auto; padding: 1rem 1.25rem; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: baseline; }
h1 { font-size: 1.25rem; margin: 0; letter-spacing: .01em; }
.health { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0; padding: 0; list-style: none; color: var(--soft); }
.dot::before { content: ""; display: inline-block; width: .6em; height: .6em; margin-right: .45em; border-radius: 50%;
  background: var(--wait); }
.dot.good::before { background: var(--good); }
.dot.bad::before { background: var(--bad); }
main { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr)); }
section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem 1.25rem; min-width: 0; }
section > div:first-child { display: flex; justify-content: space-between; gap: 1rem; color: var(--soft); font-size: .875rem; }
h2 { font-size: .875rem; margin: 0; font-weight: 600; }
.title { font-size: 1.375rem; line-height: 1.25; font-weight: 600; margin: .75rem 0 .125rem; overflow-wrap: anywhere; }
.artist { margin: 0; color: var(--soft); overflow-wrap: anywhere; min-height: 1.5em; }
progress { appearance: none; display: block; width: 100%; height: .375rem; margin: .75rem 0 .25rem; border: 0;
  border-radius: .25rem; overflow: hidden; background: var(--line); }
progress[hidden] { display: none; }
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { background: var(--accent); }
progress::-moz-progress-bar { background: var(--accent); }
.clock { margin: 0 0 .75rem; color: var(--soft); font-size: .8125rem; font-variant-numeric: tabular-nums; min-height: 1.5em; }
h3 { font-size: .75rem; font-weight: 600; color: var(--soft); margin: 0; padding-top: .75rem; border-top: 1px solid var(--line); }
h3:has(+ ol:empty) { display: none; }
ol { list-style: none; margin: .375rem 0 0; padding: 0; font-size: .875rem; }
li { padding: .1875rem 0; }
ol li { display: flex; gap: .75rem; min-width: 0; }
ol time { color: var(--soft); font-variant-numeric: tabular-nums; flex: none; }
ol span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
footer { color: var(--soft); font-size: .8125rem; }
footer a { color: inherit; }
)css";

const char* const kPageScript = R"js(
"use strict";
const pad = n => String(n).padStart(2, "0");
const minutes = s => Math.floor(s / 60) + ":" + pad(Math.floor(s % 60));
const hour = s => { const d = new Date(s * 1000); return pad(d.getHours()) + ":" + pad(d.getMinutes()); };
const idle = s => s.spintag.stream !== "connected" ? "No stream"
  : {silence: "Silence", speech: "Speech", music: "Music that is not in the catalogue"}[s.spintag.label] || "Listening\u2026";
const perhaps = m => m ? "perhaps " + [m.track.artist, m.track.title].filter(Boolean).join(" - ") + ", by its melody" : "";
function dot(element, state, text) {
  element.classList.toggle("good", state === "good");
  element.classList.toggle("bad", state === "bad");
  element.textContent = text;
}
function showStation(card, s) {
  const find = selector => card.querySelector(selector);
  const stream = s.spintag.stream, now = s.now_playing;
  dot(find(".stream"), stream === "connected" ? "good" : stream === "lost" ? "bad" : "", stream);
  find(".stream").title = s.spintag.problem;
  find(".title").textContent = now ? now.song.title || "Untitled" : idle(s);
  find(".artist").textContent = now ? [now.song.artist, now.song.album].filter(Boolean).join(" \u00b7 ")
    : [s.spintag.problem, perhaps(s.spintag.melody)].filter(Boolean).join(" \u00b7 ");
  const bar = find("progress");
  bar.hidden = !now;
  bar.max = now && now.duration || 1;
  bar.value = now ? Math.min(now.duration - now.remaining, bar.max) : 0;
  find(".clock").textContent = now ? "since " + hour(now.played_at) + ", " + minutes(now.elapsed) + " of " + minutes(now.duration) : "";
  find("ol").replaceChildren(...s.song_history.map(play => {
    const li = document.createElement("li"), time = document.createElement("time"), span = document.createElement("span");
    time.textContent = hour(play.played_at);
    span.textContent = span.title = play.song.text || "Untitled";
    li.append(time, span);
    return li;
  }));
}
async function refresh() {
  const state = document.getElementById("page");
  try {
    const [playing, ready] = await Promise.all([fetch("/api/nowplaying"), fetch("/readyz")]);
    if (!playing.ok) throw new Error("HTTP " + playing.status);
    for (const s of await playing.json()) {
      const card = document.getElementById("station-" + s.station.shortcode);
      if (card) showStation(card, s);
    }
    const r = await ready.json();
    dot(document.getElementById("index"), r.index_loaded ? "good" : "", r.index_loaded ? r.index_tracks + " tracks" : "loading the catalogue");
    dot(document.getElementById("database"), r.database_up ? "good" : "bad", r.database_up ? "database" : "database away");
    dot(document.getElementById("device"), r.device_failures ? "bad" : "good", r.device);
    const dead = r.outbox_dead ? ", " + r.outbox_dead + " given up" : "";
    dot(document.getElementById("outbox"), r.outbox_dead ? "bad" : "good", r.outbox_waiting + " events waiting" + dead);
    dot(state, "good", "live");
    state.title = "";
  } catch (error) {
    dot(state, "bad", "spintag does not answer");
    state.title = String(error);
  }
  setTimeout(refresh, 2000);
}
document.getElementById("page").hidden = false;
refresh();
)js";

}  // namespace spintag::daemon
