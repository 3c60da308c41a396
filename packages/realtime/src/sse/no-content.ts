/** Answers a client that has every event of a run that has ended. */
export interface NoContent {
  readonly status: 204
  readonly headers: Readonly<Record<string, string>>
  readonly text: null
}

export const NO_CONTENT: NoContent = { status: 204, headers: {}, text: null }
