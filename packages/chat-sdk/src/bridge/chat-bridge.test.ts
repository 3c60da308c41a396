import { createSlackAdapter } from '@chat-adapter/slack'
import { createInMemoryStorage } from '@perdure/in-memory'
import { createServer, defineAgent } from '@perdure/server-app'
import { createManualClock } from '@perdure/testkit'
import { Chat, ConsoleLogger } from 'chat'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  buttonForm,
  messageEvent,
  type SentMessage,
  type SlackMock,
  signedBySlack,
  startSlack,
} from '../slack-mock.fixture.ts'
import { perdureState } from '../state/perdure-state.ts'
import { type ChatBridgeOptions, chatBridge } from './chat-bridge.ts'

type Adapters = NonNullable<NonNullable<Parameters<typeof createServer>[0]>['adapters']>

const SECRET = 'slack-signing-secret'
const FORM = 'application/x-www-form-urlencoded'

const agent = defineAgent({
  id: 'support',
  concurrency: 'session',
  onBusy: 'queue',
  async run(input, ctx) {
    const { text } = input as { text: string }
    if (text.includes('fail')) throw new Error('a secret')
    if (text.includes('wait')) await ctx.waitForEvent('never')
    await ctx.emit('text.delta', { delta: 'You said ' })
    await ctx.emit('text.delta', { delta: `**${text}** to ${ctx.owner}` })
    if (!text.includes('refund')) return undefined
    const { approved } = await ctx.approval('refund', { title: 'Refund 20?', payload: { amount: 20 } })
    return ctx.emit('text.delta', { delta: approved ? ' and got it' : ' and did not get it' })
  },
})

/** @param given adapters of the server, and the Slack of an earlier server */
async function startWorld(
  over: Partial<ChatBridgeOptions> = {},
  { slack: earlier, ...adapters }: Partial<Adapters> & { readonly slack?: SlackMock } = {},
) {
  vi.stubEnv('SLACK_SECRET', SECRET)
  const slack = earlier ?? (await startSlack())
  const verifier: { check?: (request: Request) => boolean } = {}
  const adapter = createSlackAdapter({
    ...{ botToken: 'xoxb-test', apiUrl: slack.apiUrl, logger: new ConsoleLogger('silent') },
    webClientOptions: { retryConfig: { retries: 0 } },
    webhookVerifier: (request) => verifier.check?.(request) ?? false,
  })
  const chat = new Chat({
    ...{ userName: 'perdure', adapters: { slack: adapter }, state: perdureState(), logger: 'silent' },
  })
  const bridge = chatBridge({
    ...{ chat, agent, updateIntervalMs: 0 },
    hooks: { slack: { verify: 'slack', secretRef: 'env:SLACK_SECRET' } },
    ...over,
  })
  verifier.check = bridge.webhookVerifier
  const server = await createServer({
    config: { auth: { kind: 'none' }, log: { level: 'error' }, webhooks: { in: [...bridge.hooks] } },
    agents: [agent],
    workflows: [bridge.workflow],
    hooks: { onReady: bridge.onReady },
    adapters: { storage: createInMemoryStorage(), ...adapters },
  })
  await server.start({ listen: false })
  onTestFinished(async () => {
    await server.stop({ force: true })
    await slack.close()
    vi.unstubAllEnvs()
  })
  const send = async (body: string, contentType?: string) => {
    const request = new Request('http://localhost/v1/hooks/slack', signedBySlack(SECRET, body, contentType))
    return (await server.fetch(request)).status
  }
  const say = (message: SentMessage) => send(messageEvent(message))
  const press = (user: string, actionId: string) => {
    const message = slack.posted().find(({ blocks }) => JSON.stringify(blocks ?? '').includes(actionId))
    return send(buttonForm({ user, message: message!, actionId }), FORM)
  }
  const admin = server.client({ subject: 'admin', scopes: ['admin:*'] })
  const texts = () => slack.posted().map(({ text }) => text)
  const allEnded = async () => {
    const runs = await admin.runs.list().all()
    return runs.length > 0 && runs.every(({ status }) => status === 'completed' || status === 'aborted')
  }
  return { server, chat, slack, send, say, press, admin, texts, allEnded }
}

const mention = (text: string, ts = '1700000000.000100'): SentMessage => ({
  ...{ user: 'U1', ts, text: `<@UBOT> ${text}`, type: 'app_mention' },
})

it('answers a mention in its thread with one message, although Slack reports the mention twice', async () => {
  const { say, texts, slack, admin, allEnded } = await startWorld()
  const mentioned = mention('hello')
  expect(await say(mentioned)).toBe(200)
  expect(await say({ ...mentioned, type: 'message' })).toBe(200)
  expect(await say(mentioned)).toBe(200)
  await expect.poll(texts).toEqual(['You said **hello** to chat:slack:U1'])
  await expect.poll(allEnded).toBe(true)

  expect(slack.posted()).toMatchObject([{ channel: 'C1', thread_ts: mentioned.ts }])
  const runs = await admin.runs.list({ agentId: 'support' }).all()
  expect(runs).toMatchObject([{ owner: 'chat:slack:U1', sessionId: expect.stringMatching(/^chat-slack-C1-/) }])
})

it('takes the messages of several people in the thread as turns of one session, each with its own owner', async () => {
  const { say, texts, admin, allEnded } = await startWorld()
  await say(mention('one'))
  await expect.poll(texts).toHaveLength(1)
  await say({ user: 'U2', ts: '1700000000.000200', threadTs: '1700000000.000100', text: 'two' })
  await expect.poll(texts).toEqual(['You said **one** to chat:slack:U1', 'You said **two** to chat:slack:U2'])
  await expect.poll(allEnded).toBe(true)

  const runs = await admin.runs.list({ agentId: 'support' }).all()
  expect(new Set(runs.map(({ sessionId }) => sessionId)).size).toBe(1)
})

it('shows a request for approval as a card, lets its owner decide, and continues below the card', async () => {
  const { say, press, slack, admin, texts, allEnded } = await startWorld()
  await say(mention('refund'))
  await expect.poll(() => slack.posted().some(({ blocks }) => blocks !== undefined)).toBe(true)
  expect(slack.posted()[1]?.blocks).toMatchObject([{ text: { text: 'Refund 20?' } }, {}, { type: 'actions' }])

  await press('U2', 'perdure-approve')
  await expect.poll(() => slack.ephemeral).toMatchObject([expect.stringMatching(/^U2: .*may not decide/)])
  expect(await admin.approvals.list().all()).toMatchObject([{ status: 'pending' }])
  await press('U1', 'perdure-approve')
  await expect.poll(texts).toHaveLength(3)
  await expect.poll(allEnded).toBe(true)

  expect(texts()).toEqual([
    'You said **refund** to chat:slack:U1',
    expect.stringContaining('Approved by <@U1>'),
    'and got it',
  ])
  expect(JSON.stringify(slack.posted()[1]?.blocks)).not.toContain('perdure-approve')
  expect(await admin.approvals.list().all()).toMatchObject([{ status: 'approved', by: 'chat:slack:U1' }])
})

it('lets the people decide whom mayDecide names, and shows a decision that was made elsewhere', async () => {
  const { say, press, admin, texts, slack } = await startWorld({ mayDecide: ({ userId }) => userId === 'U2' })
  await say(mention('refund'))
  await expect.poll(() => slack.posted()).toHaveLength(2)
  await press('U2', 'perdure-deny')
  await expect.poll(texts).toMatchObject([{}, expect.stringContaining('Declined by <@U2>'), 'and did not get it'])

  await say(mention('refund again', '1700000000.000300'))
  await expect.poll(() => slack.posted()).toHaveLength(5)
  const [open] = await admin.approvals.list({ status: 'pending' }).all()
  await admin.approvals.resolve(open!.id, { approved: true })
  await expect.poll(() => texts().slice(3)).toMatchObject([{}, expect.stringContaining('by admin'), 'and got it'])
})

it('shows at once what ends a wait outside of the chat: no timer of a follower fires', async () => {
  // The clock stands still.
  const { say, admin, texts, slack } = await startWorld({}, { clock: createManualClock(Date.now()) })
  await say(mention('refund'))
  await expect.poll(() => slack.posted()).toHaveLength(2)
  await say({ user: 'U1', ts: '1700000000.000200', threadTs: '1700000000.000100', text: 'wait' })
  const followers = () => admin.runs.list({ workflowId: 'chat-bridge', status: 'suspended' }).all()
  await expect.poll(followers).toHaveLength(2)
  const [open] = await admin.approvals.list({ status: 'pending' }).all()

  await admin.approvals.resolve(open!.id, { approved: true })
  await expect.poll(() => texts().slice(1)).toMatchObject([expect.stringContaining('by admin'), 'and got it'])
  const [waiting] = await admin.runs.list({ agentId: 'support', status: 'suspended' }).all()
  await admin.runs.abort(waiting!.id, {})
  await expect.poll(() => texts().at(-1)).toBe('_Stopped._')
  await expect.poll(followers).toEqual([])
})

it('shows at once what ends a wait after a restart, too', async () => {
  const storage = createInMemoryStorage()
  const before = await startWorld({}, { storage })
  await before.say(mention('refund'))
  await expect
    .poll(() => before.admin.runs.list({ workflowId: 'chat-bridge', status: 'suspended' }).all())
    .toHaveLength(1)
  await before.server.stop()

  // It stands still at a time before any timer of the follower.
  const { admin } = await startWorld(
    {},
    {
      ...{ storage, slack: before.slack, clock: createManualClock(Date.now() - 60_000) },
    },
  )
  const [open] = await admin.approvals.list({ status: 'pending' }).all()
  await admin.approvals.resolve(open!.id, { approved: true })
  await expect.poll(() => before.texts().slice(1)).toMatchObject([expect.stringContaining('by admin'), 'and got it'])
})

it('aborts the waiting turn of the person who says stop, and says so', async () => {
  const { say, texts, admin, allEnded } = await startWorld()
  await say(mention('wait'))
  const runs = () => admin.runs.list({ agentId: 'support' }).all()
  await expect.poll(runs).toMatchObject([{ status: 'suspended' }])
  const stop = { threadTs: '1700000000.000100', text: 'Stop' }
  await say({ ...stop, user: 'U2', ts: '1700000000.000400' })
  await expect.poll(() => admin.runs.list({ workflowId: 'chat-bridge', status: 'completed' }).all()).toHaveLength(1)
  expect(await runs()).toMatchObject([{ status: 'suspended' }])

  await say({ ...stop, user: 'U1', ts: '1700000000.000500' })
  await expect.poll(runs).toMatchObject([{ status: 'aborted', abortReason: 'stopped in the chat' }])
  await expect.poll(texts).toEqual(['_Stopped._'])
  await expect.poll(allEnded).toBe(true)
})

it('shows a failed run without the message of the exception', async () => {
  const { say, texts } = await startWorld()
  await say(mention('fail'))
  await expect.poll(texts).toEqual([expect.stringMatching(/^An error occurred \(run run_\w+\)\.$/)])
})

it('finds the message of a post whose answer was lost, and edits it instead of posting another one', async () => {
  const { say, slack, texts, allEnded } = await startWorld()
  const cut = new Set(['chat.postMessage'])
  slack.setFault((method) => (cut.delete(method) ? 'cut' : undefined))
  await say(mention('hello'))
  await expect.poll(allEnded).toBe(true)

  expect(texts()).toEqual(['You said **hello** to chat:slack:U1'])
  expect(slack.calls.filter((method) => method === 'chat.postMessage')).toHaveLength(1)
  expect(slack.calls).toContain('conversations.replies')
})

it('does not take an older message with the same text for the answer', async () => {
  const { say, slack, texts, allEnded } = await startWorld({ updateIntervalMs: 60_000 })
  await say(mention('same'))
  await expect.poll(texts).toHaveLength(1)
  let fails = 2
  slack.setFault((method) => (method === 'chat.postMessage' && fails-- > 0 ? 'fail' : undefined))
  await say({ user: 'U1', ts: '1700000000.000600', threadTs: '1700000000.000100', text: 'same' })
  await expect.poll(texts).toHaveLength(2)
  await expect.poll(allEnded).toBe(true)
  expect(new Set(texts()).size).toBe(1)
})

it('refuses a request with a wrong signature, and a request that the hook has not verified', async () => {
  const { server, chat, texts } = await startWorld()
  const body = messageEvent(mention('hello'))
  const forged = new Request('http://localhost/v1/hooks/slack', signedBySlack('another secret', body))
  expect((await server.fetch(forged)).status).toBe(401)
  const direct = new Request('http://localhost/slack', signedBySlack(SECRET, body))
  expect((await chat.webhooks.slack!(direct)).status).toBe(401)
  expect(texts()).toEqual([])
})

it('requires a Chat with the state of Perdure', async () => {
  const { chat } = await startWorld()
  const foreign = { ...chat.getState(), duringDelivery: undefined }
  const other = { getState: () => foreign }
  expect(() => chatBridge({ chat: other as unknown as Chat, agent, hooks: {} })).toThrow('perdureState()')
})
