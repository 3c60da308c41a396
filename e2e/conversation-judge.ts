import { type Conversation, type ConversationClient, jsonOf, type Sent, sha256Of } from './conversation-client.ts'

/** A part of the user in a prompt; a file is the hash of its bytes. */
type PromptPart = { readonly text: string } | { readonly sha256: string }

interface Asked {
  readonly digest: string
  /** How many answers the prompt has. */
  readonly answers: number
  readonly parts: readonly PromptPart[]
  /** The idempotency keys of the tool calls whose results the prompt has. */
  readonly results: readonly string[]
}

interface UiPart {
  readonly type: string
  readonly text?: string
  readonly url?: string
  readonly parts?: readonly UiPart[]
}

export interface Judged {
  readonly client: ConversationClient
  readonly ledger: readonly string[]
}

const asksIn = (ledger: readonly string[]): readonly (Asked & { readonly line: number })[] =>
  ledger.flatMap((text, line) => (text.startsWith('ask ') ? [{ ...(JSON.parse(text.slice(4)) as Asked), line }] : []))

const isOf = (chat: string, { parts }: Asked): boolean =>
  parts.some((part) => 'text' in part && part.text.startsWith(`${chat} `))

/** Each message as one text: its own, and the hashes of its files. */
const shownMessages = (parts: readonly PromptPart[]): readonly string[] => {
  const messages: string[] = []
  for (const part of parts) {
    if ('text' in part) messages.push(part.text)
    else messages.push(`${messages.pop()} + ${part.sha256.slice(0, 8)}`)
  }
  return messages.toSorted()
}

const expected = (sent: readonly Sent[]): readonly string[] =>
  shownMessages(
    sent
      .filter(({ isWithdrawn }) => !isWithdrawn)
      .flatMap(({ text, files }) => [{ text }, ...files.map((sha256) => ({ sha256 }))]),
  )

function same(client: ConversationClient, what: string, [wanted, found]: readonly [unknown, unknown]): void {
  const [one, other] = [JSON.stringify(wanted), JSON.stringify(found)]
  if (one !== other) client.violations.push(`${what}: expected ${one}, found ${other}`)
}

/** The messages of the user on the page, with the files as the server returns them. */
async function pageParts(client: ConversationClient, chat: string): Promise<readonly PromptPart[]> {
  const answer = await client.ask({ method: 'GET', path: `/agents/chat/chat/${chat}/messages` })
  const messages = jsonOf<readonly { readonly role: string; readonly parts: readonly UiPart[] }[]>(answer)
  const parts = messages.flatMap(({ role, parts }) =>
    role === 'user' ? parts : parts.flatMap((part) => (part.type === 'steering-message' ? (part.parts ?? []) : [])),
  )
  const shown: PromptPart[] = []
  for (const { type, text = '', url = '' } of parts) {
    if (type === 'text') shown.push({ text })
    if (type !== 'file') continue
    const { status, bytes } = await client.bytesOf(url.split('/').at(-1) ?? '')
    shown.push({ sha256: status === 200 ? sha256Of(bytes) : `${status} for ${url}` })
  }
  return shown
}

/** Each acknowledged message is once on the page and in the last prompt, with its last text and its files. */
export async function judgeMessages({ client, ledger }: Judged, { chat, sent }: Conversation): Promise<void> {
  const wanted = expected(sent)
  same(client, `${chat} page`, [wanted, shownMessages(await pageParts(client, chat))])
  const last = asksIn(ledger).findLast((asked) => isOf(chat, asked))
  same(client, `${chat} prompt`, [wanted, shownMessages(last?.parts ?? [])])
  const queue = await client.ask({ method: 'GET', path: `/sessions/${chat}/queue` })
  same(client, `${chat} queue`, [[], jsonOf(queue).items])
}

/** The model is asked once per answer, and once more for each kill and for each turn that a message has cut off. */
export function judgeAnswers({ client, ledger }: Judged, { chat, interrupts }: Conversation): number {
  const asks = asksIn(ledger).filter((asked) => isOf(chat, asked))
  const first = asks[0]?.line ?? 0
  const kills = ledger.filter((text, line) => text === 'kill' && line > first && line < (asks.at(-1)?.line ?? 0)).length
  const answers = (asks.at(-1)?.answers ?? 0) + 1
  if (asks.length > answers + kills + interrupts) {
    const counted = `${answers} answers, ${kills} kills and ${interrupts} interrupting messages`
    client.violations.push(`${chat}: the model was asked ${asks.length} times for ${counted}`)
  }
  for (const [index, { digest, line }] of asks.entries()) {
    const before = asks.slice(0, index).findLast((asked) => asked.digest === digest)
    if (before === undefined || ledger.slice(before.line, line).includes('kill')) continue
    client.violations.push(
      `${chat}: the model was asked the same twice without a kill, in lines ${before.line}, ${line}`,
    )
  }
  return asks.length - new Set(asks.map(({ digest }) => digest)).size
}

/** An effect is repeated only after a kill, and never after the model has seen its result. Returns how many were repeated. */
export function judgeTools({ client, ledger }: Judged): number {
  const seen = new Set<string>()
  const done = new Map<string, number>()
  let kills = 0
  let repeated = 0
  for (const text of ledger) {
    if (text === 'kill') kills++
    if (text.startsWith('ask ')) for (const key of (JSON.parse(text.slice(4)) as Asked).results) seen.add(key)
    if (!text.startsWith('did ')) continue
    const key = text.slice(4)
    if (seen.has(key)) client.violations.push(`the effect ${key} was repeated after its result was in a prompt`)
    if (done.get(key) === kills) client.violations.push(`the effect ${key} was repeated without a kill`)
    if (done.has(key)) repeated++
    done.set(key, kills)
  }
  return repeated
}

/** No run is left open, each that has not completed has a reason, and each sender is told what became of the message. */
export async function judgeRuns({ client }: Judged, { chat, sent, interrupts }: Conversation): Promise<void> {
  const { violations } = client
  const runs = await client.runsOf(chat)
  const ids = runs.map(({ id }) => id)
  same(client, `${chat} runs`, [sent.map(({ runId }) => runId).toSorted(), ids.toSorted()])
  for (const { runId, isWithdrawn } of sent) {
    const status = runs.find(({ id }) => id === runId)?.status
    const { state, deliveredTo } = jsonOf(await client.ask({ method: 'GET', path: `/runs/${runId}/receipt` }))
    const isAborted = status === 'aborted' && interrupts > 0 && state !== 'withdrawn'
    const isCompleted = status === 'completed' && state === 'delivered' && ids.includes(deliveredTo ?? '')
    const isTakenBack = status === 'aborted' && state === 'withdrawn'
    if (isWithdrawn ? isTakenBack : isCompleted || isAborted) continue
    violations.push(`${chat}: the run ${runId} is ${status}, its message ${state} to ${deliveredTo}`)
  }
}

/** Each acknowledged file has its bytes; none, if each session that held it is deleted. Data URLs may share it. */
export async function judgeFiles({ client }: Judged, deleted: ReadonlySet<string>): Promise<void> {
  for (const { id, sha256, holders } of client.stored) {
    const { status, bytes } = await client.bytesOf(id)
    const isDeleted = (chat: string) => deleted.has(chat)
    const sharing = [...(client.sentAsData.get(sha256) ?? [])]
    const isGone = holders.size > 0 && [...holders].every(isDeleted)
    const found = status === 200 ? sha256Of(bytes) : status
    const mayBeShared = isGone ? !sharing.every(isDeleted) : holders.size === 0 && sharing.some(isDeleted)
    if (mayBeShared && (found === 404 || found === sha256)) continue
    same(client, `file ${id} of ${[...holders].join() || 'no chat'}`, [isGone ? 404 : sha256, found])
  }
}
