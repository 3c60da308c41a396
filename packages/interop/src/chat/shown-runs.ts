import { fromJsonText, type ListedRun } from '@perdure/ports'
import { outputText } from '../fold/output-text.ts'
import { type ChatRuns, type ChatSessionDeps, newestRuns } from './chat-session.ts'

/** The runs of a chat, newest first. */
export interface ShownRuns {
  /** These are shown with all that their logs tell. */
  readonly newest: readonly ListedRun[]
  /** The runs before them, which are shown by their input and result. */
  readonly older: readonly ListedRun[]
}

const MAX_OLDER = 200

export async function shownRuns(deps: ChatSessionDeps, chat: ChatRuns, historyRuns: number): Promise<ShownRuns> {
  const runs = await newestRuns(deps, chat, historyRuns + MAX_OLDER)
  return { newest: runs.slice(0, historyRuns), older: runs.slice(historyRuns) }
}

/** The answer of a run without its log; empty if the run has no result. */
export const resultText = ({ result }: ListedRun): string =>
  outputText({ items: [], result: result === undefined ? undefined : fromJsonText(result) })
