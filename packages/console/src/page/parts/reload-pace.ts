/** The first events of a series are shown soon. Further ones share requests, so that a busy server is not asked often. */
const FIRST_MS = 200
const GROWTH = 3
const MAX_MS = 10_000

export interface ReloadPace {
  reloadSoon(): void
  stop(): void
}

export function createReloadPace(reload: () => void): ReloadPace {
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastMs = Number.NEGATIVE_INFINITY
  let waitMs = FIRST_MS
  const onTimer = () => {
    timer = undefined
    lastMs = Date.now()
    reload()
  }
  return {
    reloadSoon() {
      if (timer !== undefined) return
      const sinceMs = Date.now() - lastMs
      waitMs = sinceMs > MAX_MS ? FIRST_MS : Math.min(MAX_MS, waitMs * GROWTH)
      timer = setTimeout(onTimer, Math.max(FIRST_MS, waitMs - sinceMs))
    },
    stop: () => clearTimeout(timer),
  }
}
