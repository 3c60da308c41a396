/**
 * The id of a call that the client executes. It names the run, because a Chat Completions client sends nothing else by
 * which the run could be found.
 */
export const clientCallId = (runId: string, toolCallId: string): string =>
  toolCallId.startsWith(`${runId}.`) ? toolCallId : `${runId}.${CUSTOM}${toolCallId}`

const CUSTOM = 'c:'

/** `undefined` for an id that this server has not given. */
export function parseClientCallId(id: string): { readonly runId: string; readonly toolCallId: string } | undefined {
  const [, runId, rest] = /^(run_[A-Za-z0-9]{1,64})\.(.{1,256})$/.exec(id) ?? []
  if (runId === undefined || rest === undefined) return undefined
  return { runId, toolCallId: rest.startsWith(CUSTOM) ? rest.slice(CUSTOM.length) : id }
}
