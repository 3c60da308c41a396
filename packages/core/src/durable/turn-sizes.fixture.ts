/** Sums what a test notes in each turn of the event loop. */
export function createTurnSizes() {
  const sizes: number[] = [0]
  let next: NodeJS.Immediate
  const begin = () => {
    next = setImmediate(() => {
      sizes.push(0)
      begin()
    }).unref()
  }
  begin()
  return {
    note(size: number) {
      sizes[sizes.length - 1] = (sizes.at(-1) ?? 0) + size
    },
    /** Ends the count. */
    stop: () => {
      clearImmediate(next)
      return { largest: Math.max(...sizes), total: sizes.reduce((sum, size) => sum + size, 0) }
    },
  }
}
