/** Two drawings are at least this far apart: nobody can read rows that change faster. */
const MIN_MS = 50

export interface DrawPace {
  /** Draws in the next frame, or as soon as the last drawing is old enough. */
  drawSoon(): void
  stop(): void
}

/** Limits how often a page is drawn again, so that a fast stream of events leaves time for everything else. */
export function createDrawPace(draw: () => void): DrawPace {
  let lastMs = Number.NEGATIVE_INFINITY
  let isDue = false
  let isStopped = false
  const onFrame = () => {
    isDue = false
    if (isStopped) return
    lastMs = performance.now()
    draw()
  }
  return {
    drawSoon() {
      if (isDue || isStopped) return
      isDue = true
      const waitMs = lastMs + MIN_MS - performance.now()
      if (waitMs <= 0) requestAnimationFrame(onFrame)
      else setTimeout(() => requestAnimationFrame(onFrame), waitMs)
    },
    stop() {
      isStopped = true
    },
  }
}
