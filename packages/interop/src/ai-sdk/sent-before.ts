import type { KeyedRequest, Principal, Recall } from '@perdure/core'
import { canonicalJson, isRefusal, perdureError } from '@perdure/ports'
import { wasResumedBy } from '../chat/awaited-input.ts'
import { type BriefRun, type ChatRuns, newestRun } from '../chat/chat-session.ts'
import type { RunLogDeps } from '../chat/run-log.ts'
import { type StoredFilesDeps, withStoredFiles } from '../chat/stored-files.ts'
import { runStartedBy, type TurnWithMessageDeps, turnWithMessage } from './turn-with-message.ts'
import { toChatMessage, toUiMessage, type UiMessage } from './ui-message.ts'

export interface SentBeforeDeps extends TurnWithMessageDeps, StoredFilesDeps, RunLogDeps {
  readonly recall: Recall
}

interface Sent {
  readonly message: UiMessage
  readonly principal: Pick<Principal, 'subject'>
  readonly key: KeyedRequest | undefined
  /** The identity of the message, whatever the key of the request is. */
  readonly claim: KeyedRequest | undefined
}

export interface EarlierDelivery {
  readonly runId: string
  /** Whether the message was passed to the run as input. */
  readonly isInput: boolean
}

/**
 * Where a message went that was sent before: to a turn that it started, or as input to a run that waited for it.
 *
 * @throws PerdureError `idempotency-conflict` if another message of the chat has the id
 */
export async function sentBefore(
  deps: SentBeforeDeps,
  chat: ChatRuns,
  sent: Sent,
): Promise<EarlierDelivery | undefined> {
  const { message, claim } = sent
  if (message.id === '') return undefined
  const started = await runStartedBy(deps, chat, message.id)
  if (started === undefined) return inputBefore(deps, chat, { messageId: message.id, claim })
  const runId = await turnBefore(deps, chat, { ...sent, started })
  return runId === undefined ? undefined : { runId, isInput: false }
}

/** The log of the newest run has its inputs for as long as the run is stored; the claims of messages expire. */
async function inputBefore(
  deps: SentBeforeDeps,
  chat: ChatRuns,
  { messageId, claim }: Pick<Sent, 'claim'> & { readonly messageId: string },
): Promise<EarlierDelivery | undefined> {
  const claimed = claim === undefined ? undefined : await runOfClaim(deps, claim)
  if (claimed !== undefined) {
    // Another server may have started the turn meanwhile.
    return { runId: claimed, isInput: (await runStartedBy(deps, chat, messageId)) === undefined }
  }
  const newest = await newestRun(deps, chat)
  if (newest === undefined || !(await wasResumedBy(deps, newest, messageId))) return undefined
  return { runId: newest.id, isInput: true }
}

async function runOfClaim({ recall }: SentBeforeDeps, claim: KeyedRequest): Promise<string | undefined> {
  try {
    return await recall.runOf(claim)
  } catch (error) {
    throw isRefusal(error) && error.code === 'idempotency-conflict' ? otherMessage() : error
  }
}

/**
 * The run of a message that was sent before: the one that an earlier request with the same key has started, or else that
 * of the message with the same id, which is the identity of a message in its chat.
 */
async function turnBefore(
  deps: SentBeforeDeps,
  chat: ChatRuns,
  { message, principal, key, started }: Omit<Sent, 'claim'> & { readonly started: BriefRun },
): Promise<string | undefined> {
  // The message may have been edited since the first request with this key.
  const recalled = key === undefined ? undefined : await deps.recall(key)
  if (recalled?.runId !== undefined) return recalled.runId
  const turn = await turnWithMessage(deps, chat, { id: message.id, runId: started.id })
  if (turn === undefined) return undefined
  // A file that is sent again has the URL of the stored one.
  const stored = await withStoredFiles(deps, [toChatMessage(message)], { principal, isChat: true })
  const sent = stored.map((one) => toUiMessage(one, message.id))
  const contentOf = ({ parts }: UiMessage) => (turn.isAsSent ? canonicalJson(parts) : textIn({ parts }))
  if (sent.every((one) => contentOf(one) === contentOf(turn.message))) {
    // A message that another run has taken keeps its own run, which has its receipt.
    return started.finishReason === 'joined' ? started.id : turn.id
  }
  throw otherMessage()
}

const otherMessage = () =>
  perdureError('idempotency-conflict', {
    message: 'the chat has another message with this id',
    hint: 'send a new message with a new id; to edit a message, send its id as messageId',
  })

const textIn = ({ parts }: Pick<UiMessage, 'parts'>): string =>
  parts.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('\n\n')
