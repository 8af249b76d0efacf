import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

import { sparing } from '../pace';

// Observers by scroll container: rootMargin counts only from the scrolling element.
const observers = new WeakMap<Element, IntersectionObserver>();
const callbacks = new WeakMap<Element, (near: boolean) => void>();
const kNear = 400; // CSS pixels
const kPassing = 80; // ms that something must stay near during scrolling: what only passes by is never rendered

let scrolledAt = -Infinity;
if (typeof document !== 'undefined')
  document.addEventListener('scroll', () => (scrolledAt = performance.now()), { capture: true, passive: true });

function observerOf(scroller: Element): IntersectionObserver {
  let found = observers.get(scroller);
  if (!found) {
    found = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) callbacks.get(entry.target)?.(entry.isIntersecting);
      },
      { root: scroller, rootMargin: `${kNear}px 0px` },
    );
    observers.set(scroller, found);
  }
  return found;
}

// The same, asked at once: an observer answers only after the next frame.
function isNear(element: Element, scroller: Element): boolean {
  const [own, frame] = [element.getBoundingClientRect(), scroller.getBoundingClientRect()];
  return own.bottom >= frame.top - kNear && own.top <= frame.bottom + kNear;
}

// True while the element is on the screen or within 400 px of it. The scroll container has `data-scroller`.
export function useVisible<E extends Element>(ref: RefObject<E | null>): boolean {
  const [near, setNear] = useState(false);
  // Before the first paint, so that the result is part of it.
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const scroller = element.closest('[data-scroller]') ?? document.documentElement;
    const observer = observerOf(scroller);
    let timer: ReturnType<typeof setTimeout> | undefined;
    callbacks.set(element, (now) => {
      clearTimeout(timer);
      if (now && performance.now() - scrolledAt < kPassing) timer = setTimeout(() => setNear(true), kPassing);
      else setNear(now);
    });
    if (performance.now() - scrolledAt >= kPassing && isNear(element, scroller)) setNear(true);
    observer.observe(element);
    return () => {
      clearTimeout(timer);
      observer.unobserve(element);
    };
  }, []);
  return near;
}

function contentSize(element: Element): { width: number; height: number } {
  const { width, height } = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  const sum = (...lengths: string[]) => lengths.reduce((all, one) => all + (parseFloat(one) || 0), 0);
  return {
    width: Math.max(0, width - sum(style.paddingLeft, style.paddingRight, style.borderLeftWidth, style.borderRightWidth)),
    height: Math.max(0, height - sum(style.paddingTop, style.paddingBottom, style.borderTopWidth, style.borderBottomWidth)),
  };
}

// The size of an element's content box, in CSS pixels; zeros until it is known, before the first paint.
export function useSize<E extends Element>(ref: RefObject<E | null>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      const { width, height } = entry.contentRect;
      const same = (a: number, b: number) => Math.abs(a - b) < 0.01; // sums of lengths are not exact
      setSize((old) => (same(old.width, width) && same(old.height, height) ? old : { width, height }));
    });
    observer.observe(element);
    setSize(contentSize(element));
    return () => observer.disconnect();
  }, []);
  return size;
}

export interface Loaded<Value> {
  value: Value | undefined; // the last one, also while the next is in flight
  error: string | null;
  loading: boolean;
}

// Asks whenever `key` changes, and cancels the open request. The last value stays until the next one arrives. A new
// `version` means that the answer to the same question may have changed: the open request is then completed first, and
// repeated about once per second, so that constantly changing data is still shown.
export function useAsked<Value>(
  key: string | null,
  ask: (signal: AbortSignal) => Promise<Value>,
  version = 0,
): Loaded<Value> {
  const [state, setState] = useState<Loaded<Value>>({ value: undefined, error: null, loading: key !== null });
  const latest = useRef({ ask, version });
  latest.current = { ask, version };
  const answered = useRef({ version, again: () => {} });
  useEffect(() => {
    if (key === null) {
      answered.current.again = () => {};
      return;
    }
    const controller = new AbortController();
    const once = sparing(async () => {
      if (controller.signal.aborted) return;
      answered.current.version = latest.current.version;
      setState((old) => (old.loading ? old : { ...old, loading: true }));
      try {
        const value = await latest.current.ask(controller.signal);
        if (!controller.signal.aborted) setState({ value, error: null, loading: false });
      } catch (error) {
        if (controller.signal.aborted) return;
        const text = error instanceof Error ? error.message : String(error);
        setState((old) => ({ ...old, error: text, loading: false }));
      }
    });
    answered.current.again = () => void once(false);
    void once(false);
    return () => controller.abort();
  }, [key]);
  useEffect(() => {
    if (answered.current.version !== version) answered.current.again();
  }, [version]);
  return state;
}

// The newest value, at most every `ms`: for data that follows a moving cursor.
export function useThrottled<Value>(value: Value, ms: number): Value {
  const [shown, setShown] = useState(value);
  const last = useRef(0);
  useEffect(() => {
    const wait = last.current + ms - performance.now();
    const take = () => {
      last.current = performance.now();
      setShown(value);
    };
    if (wait <= 0) return take();
    const timer = setTimeout(take, wait);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return shown;
}
