// SPDX-License-Identifier: Apache-2.0

// The pages work without this script. With it they follow changes, have keys, and copy commands.
"use strict";

(() => {
  const live = document.getElementById("live");
  const parts = () => Array.from(document.querySelectorAll("[data-part]"));
  const say = (text) => { if (live && live.textContent !== text) live.textContent = text; };

  // A form that was edited keeps what was typed, whatever else changes around it.
  const edited = (part) => Array.from(part.querySelectorAll("textarea, input:not([type=hidden])")).some(
    (field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked) ||
    Array.from(part.querySelectorAll("select")).some((field) => field.selectedIndex !== Math.max(0, Array.from(field.options).findIndex((option) => option.defaultSelected)));

  // replace puts new content into a part of the page, and keeps the focus on the same link or field.
  const replace = (part, update) => {
    const active = part.contains(document.activeElement) ? document.activeElement : null;
    const same = active && (active.id ? `#${CSS.escape(active.id)}` : active.getAttribute("href") ? `a[href="${CSS.escape(active.getAttribute("href"))}"]` : null);
    const details = () => Array.from(part.querySelectorAll("details")).map((each, i) => [each.id || i, each]);
    const open = new Map(details().map(([key, each]) => [key, each.open]));
    const scrolled = Array.from(part.querySelectorAll(".scroll")).map((region) => [region.scrollLeft, region.scrollTop]);
    part.innerHTML = update.html;
    part.dataset.hash = update.hash;
    details().forEach(([key, each]) => { if (open.has(key)) each.open = open.get(key); });
    part.querySelectorAll(".scroll").forEach((region, i) => { if (i < scrolled.length) [region.scrollLeft, region.scrollTop] = scrolled[i]; });
    if (same) {
      const again = part.querySelector(same);
      if (again) again.focus({ preventScroll: true });
    }
    part.classList.remove("changed");
    requestAnimationFrame(() => part.classList.add("changed"));
  };

  // A page that nobody sees is not followed: over HTTP/1.1 a browser has six connections to a server for all its tabs.
  let events = null, again = 0;
  const rest = () => {
    clearTimeout(again);
    if (events) events.close();
    events = null;
  };
  const follow = () => {
    rest();
    if (document.hidden) return;
    const have = parts().map((part) => `${part.dataset.part}.${part.dataset.hash}`).join(",");
    const page = location.pathname + location.search;
    events = new EventSource(`/events?page=${encodeURIComponent(page)}&have=${encodeURIComponent(have)}`);
    events.addEventListener("open", () => say("Follows changes."));
    events.addEventListener("part", (event) => {
      const update = JSON.parse(event.data);
      const part = parts().find((each) => each.dataset.part === update.id);
      if (!part || part.dataset.hash === update.hash) return;
      if (edited(part)) {
        say("The page has changed; what you have typed stays as it is.");
        return;
      }
      replace(part, update);
    });
    events.addEventListener("end", (event) => end(JSON.parse(event.data).problem));
    events.addEventListener("error", () => {
      say("The connection to the hub is lost; trying again.");
      if (events && events.readyState === EventSource.CLOSED) refused();
    });
  };
  const end = (problem) => {
    rest();
    document.removeEventListener("visibilitychange", follow);
    say(`Follows no more changes: ${problem}`);
  };
  // A browser gives up after a response that is no stream, and does not tell which: the hub restarts, or the session has ended.
  const refused = async () => {
    const response = await fetch(location.href, { headers: { Accept: "application/json" } }).catch(() => null);
    if (response?.status === 401) end((await response.json()).error);
    else again = setTimeout(follow, 1000);
  };

  // The keys: / goes to the search, and the arrows go through the links of the content.
  const links = () => Array.from(document.querySelectorAll("main a[href]:not([tabindex='-1'])")).filter((each) => each.offsetParent !== null);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName || "");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      document.getElementById("search")?.focus();
    } else if (event.key === "Escape" && typing) {
      document.activeElement.blur();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (!typing || document.activeElement.id === "search")) {
      const all = links();
      if (all.length === 0) return;
      event.preventDefault();
      const at = all.indexOf(document.activeElement);
      const next = event.key === "ArrowDown" ? (at + 1) % all.length : (at <= 0 ? all.length : at) - 1;
      all[next].focus();
    }
  });

  // A logout in one tab ends what the other tabs of the browser show and follow.
  const logouts = window.BroadcastChannel ? new BroadcastChannel("logout") : null;
  if (logouts) {
    document.querySelector('form[action="/logout"]')?.addEventListener("submit", () => logouts.postMessage(""));
    logouts.addEventListener("message", () => {
      end("you have logged out in another tab.");
      location.replace("/login");
    });
  }

  document.querySelectorAll("button.copy").forEach((button) => {
    if (!navigator.clipboard) return;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
        say("Copied.");
      } catch {
        say("The browser does not allow to copy.");
      }
    });
  });

  if (document.body.hasAttribute("data-follows") && window.EventSource) {
    document.addEventListener("visibilitychange", follow);
    follow();
  }
})();
