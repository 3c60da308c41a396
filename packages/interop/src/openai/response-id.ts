/** A response: a segment of a run. */
export interface ResponseRef {
  readonly runId: string
  /** From 1. */
  readonly segment: number
}

/** `resp_<run>`, and `resp_<run>-<n>` for the response that follows the n-1st answer of the client. */
export const formatResponseId = ({ runId, segment }: ResponseRef): string =>
  segment === 1 ? `resp_${runId}` : `resp_${runId}-${segment}`

/** `undefined` for everything that is not the id of a response. */
export function parseResponseId(id: string): ResponseRef | undefined {
  const [, runId, segment = '1'] = /^resp_([A-Za-z0-9_-]{1,128}?)(?:-([1-9]\d{0,5}))?$/.exec(id) ?? []
  return runId === undefined ? undefined : { runId, segment: Number(segment) }
}
