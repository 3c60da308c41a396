import type { LogEvent } from '@perdure/core'
import { outputText } from '@perdure/core'
import { fromJsonText, type ListedRun } from '@perdure/ports'
import { type BriefRun, type ChatRuns, type ChatSessionDeps, newestRuns } from './chat-session.ts'
import { beginLog, type RunLogDeps, readLog } from './run-log.ts'

export interface HistoryDeps extends ChatSessionDeps, RunLogDeps {
  /** How many runs are shown with all that their logs tell. The runs before them are shown by their input and result. */
  readonly historyRuns: number
}

/** How a protocol shows the runs of a chat. */
export interface HistoryForms<Message> {
  /** The runs to show, newest first. */
  select(runs: readonly BriefRun[]): readonly BriefRun[]
  questions(run: ListedRun): readonly Message[]
  /** The answer of a run without its log. @param text is empty if the run has no result */
  outline(run: ListedRun, text: string): readonly Message[]
  answers(run: ListedRun): { next(event: LogEvent): unknown; messages(): readonly Message[] }
}

export interface ChatHistory<Message> {
  /** Oldest first. */
  readonly messages: readonly Message[]
  /** Where the rest can be read, if the history is too long for one answer. */
  readonly rest?: string
}

const MAX_OLDER = 200

/**
 * The messages of a chat. Reads the newest run first, one run at a time, until the messages are as long as an answer may
 * be: a run that does not fit whole is shown as far as it fits, and those before it are left out.
 */
export async function readHistory<Message>(
  deps: HistoryDeps,
  chat: ChatRuns,
  forms: HistoryForms<Message>,
): Promise<ChatHistory<Message>> {
  const { historyRuns, maxAnswerBytes, basePath, runs } = deps
  const found = await newestRuns(deps, chat, historyRuns + MAX_OLDER)
  const outlined = new Set(found.slice(historyRuns))
  const rest = `${basePath}/sessions/${chat.sessionId}/messages`
  let room = maxAnswerBytes / 2
  let messages: readonly Message[] = []
  for (const brief of forms.select(found)) {
    const run = await runs.find(brief.id, chat.visibility)
    if (run === undefined) continue
    const { input, result = '' } = run
    const isOutlined = outlined.has(brief)
    room -= input.length + (isOutlined ? result.length : 0)
    if (room <= 0) return { messages, rest }
    const shown = isOutlined ? forms.outline(run, resultText(run)) : await answersOf(deps, run, forms, room)
    messages = [...forms.questions(run), ...('messages' in shown ? shown.messages : shown), ...messages]
    if ('bytes' in shown) room -= shown.bytes
  }
  return { messages }
}

async function answersOf<Message>(
  deps: HistoryDeps,
  run: ListedRun,
  { answers }: Pick<HistoryForms<Message>, 'answers'>,
  room: number,
): Promise<{ readonly messages: readonly Message[]; readonly bytes: number }> {
  const projector = answers(run)
  const cursor = await beginLog(deps, run, room)
  await readLog(deps, run, cursor, projector.next)
  return { messages: projector.messages(), bytes: cursor.limit.bytes() }
}

const resultText = ({ result }: ListedRun): string =>
  outputText({ items: [], result: result === undefined ? undefined : fromJsonText(result) })
