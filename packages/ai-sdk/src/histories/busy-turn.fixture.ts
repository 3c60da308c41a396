import type { Action, Meanwhile } from './actions.fixture.ts'
import type { Branch } from './branch.fixture.ts'
import type { ChatClient } from './chat-client.fixture.ts'
import type { Message } from './expected.fixture.ts'
import type { createPage } from './page.fixture.ts'
import type { World } from './server-world.fixture.ts'

export interface BusyChat {
  readonly world: World
  readonly client: ChatClient
  readonly page: ReturnType<typeof createPage>
  readonly branch: Branch
  readonly chatId: string
}

interface Waiting {
  readonly message: Message
  readonly isSteering: boolean
}

/** A message that comes while the agent works. Returns `undefined` if the user has taken it back. */
async function sendMeanwhile(
  { world, client, page, chatId }: BusyChat,
  { onBusy, kind, file, change, via }: Meanwhile,
): Promise<Waiting | undefined> {
  const isSteering = onBusy === 'steer'
  // An edit moves a message one millisecond ahead in the queue.
  await world.elapse(3)
  const message = client.newMessage(isSteering ? 'plain' : kind, file)
  // The page shows the messages that wait, and sends them again with the next one.
  const view = via === 'page' ? await page.messages(chatId) : []
  const runId = await client.start(message, { chatId, via, onBusy, view })
  if (change === 'none') return { message, isSteering }
  if (change === 'withdraw') {
    await client.post(`/runs/${runId}/withdraw`, {})
    return undefined
  }
  const edited = client.newMessage(isSteering ? 'plain' : kind)
  const content = [{ type: 'text', text: edited.text }]
  await client.patch(`/runs/${runId}`, { input: { messages: [{ role: 'user', content }] } })
  return { message: edited, isSteering }
}

/** A turn that works until it is released, stopped or interrupted, and the messages that come meanwhile. */
export async function playBusyTurn(
  chat: BusyChat,
  { messages, end }: Pick<Extract<Action, { type: 'busy' }>, 'messages' | 'end'>,
): Promise<void> {
  const { world, client, branch, chatId } = chat
  if (branch.waiting()?.kind === 'ask') return
  const held = client.newMessage('hold')
  branch.begin([held])
  const runId = await client.start(held, { chatId, via: 'page' })
  await world.untilHeld(held.text)
  const waiting: Waiting[] = []
  for (const one of messages) {
    const sent = await sendMeanwhile(chat, one)
    if (sent !== undefined) waiting.push(sent)
  }
  const of = (isSteering: boolean) =>
    waiting.filter((one) => one.isSteering === isSteering).map(({ message }) => message)
  if (end === 'release') {
    branch.end('answered', of(true))
    branch.begin(of(false))
  } else {
    branch.end('stopped')
    branch.begin(waiting.map(({ message }) => message))
  }
  if (end === 'interrupt') {
    // A message that interrupts is a turn of its own, after those that wait.
    const message = client.newMessage('plain')
    branch.begin([message])
    await client.start(message, { chatId, via: 'page', onBusy: 'interrupt' })
  }
  if (end === 'stop') await client.post(`/runs/${runId}/abort`, {})
  world.release(held.text)
}
