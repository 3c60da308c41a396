/** A call of a workflow in time. */
export interface GraphCall {
  readonly start: number
  /** `undefined` while the call is in progress. */
  readonly end: number | undefined
}

/**
 * The calls in layers, from first to last: calls that overlap in time are in one layer, and a call that started after
 * another had ended is in a later one.
 */
export function layersOf<Call extends GraphCall>(calls: readonly Call[]): readonly (readonly Call[])[] {
  const layers: Call[][] = []
  let firstEnd = Number.NEGATIVE_INFINITY
  for (const call of calls.toSorted((one, other) => one.start - other.start)) {
    const end = call.end ?? Number.POSITIVE_INFINITY
    const layer = layers.at(-1)
    if (layer !== undefined && call.start < firstEnd) {
      layer.push(call)
      firstEnd = Math.min(firstEnd, end)
    } else {
      layers.push([call])
      firstEnd = end
    }
  }
  return layers
}
