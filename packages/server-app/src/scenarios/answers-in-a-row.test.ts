import type { AgentRegistration, RunContext } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'

/** Asks the client twice for a color, then a person for an approval. */
const clerk: AgentRegistration = {
  id: 'clerk',
  description: 'Asks three times.',
  agent: {
    id: 'clerk',
    async run(_, ctx: RunContext) {
      for (const toolCallId of ['call_1', 'call_2']) {
        const picked = await ctx.clientTool({ name: 'pickColor', toolCallId })
        await ctx.text(`You picked ${picked.ok ? picked.value : 'nothing'}. `)
      }
      const args = { what: 'paper' }
      await ctx.tool({ name: 'order', args, toolCallId: 'call_3', approval: true, execute: () => 17 })
      await ctx.text('Ordered.')
    },
  },
}

/** Asks a person for an approval and the client for a day at the same time. */
const shop: AgentRegistration = {
  id: 'shop',
  description: 'Asks twice at once.',
  agent: {
    id: 'shop',
    async run(_, ctx: RunContext) {
      await ctx.text('Asking. ')
      const deliver = { name: 'deliver', args: { what: 'cake' }, approval: { title: 'Deliver?' }, execute: () => 17 }
      await Promise.all([ctx.tool(deliver), ctx.clientTool({ name: 'pickDay', args: { days: ['Monday'] } })])
      await ctx.text('Delivered.')
    },
  },
}

interface Frame {
  readonly type: string
  readonly delta?: string
  readonly toolCallId?: string
  readonly approvalId?: string
  readonly messageId?: string
  readonly toolName?: string
  readonly title?: string
  readonly input?: unknown
}

async function started(agent: AgentRegistration = clerk) {
  const server = await startedServer({ agents: [agent] })
  const send = async (path: string, body: object): Promise<readonly Frame[]> => {
    const headers = { 'content-type': 'application/json' }
    const url = `http://localhost/v1/agents/${agent.id}/${path}`
    const response = await server.fetch(new Request(url, { method: 'POST', headers, body: JSON.stringify(body) }))
    const data = (await response.text()).matchAll(/^data: (\{.*)$/gm)
    return [...data].map(([, json = '']) => JSON.parse(json) as Frame)
  }
  const approvalIds = async () => {
    const response = await server.fetch(new Request('http://localhost/v1/approvals'))
    return ((await response.json()) as { items: { id: string }[] }).items.map(({ id }) => id)
  }
  const chat = async (id: string) => {
    const response = await server.fetch(new Request(`http://localhost/v1/agents/${agent.id}/chat/${id}/messages`))
    return (await response.json()) as { parts: { toolName?: string; state?: string }[] }[]
  }
  return { send, approvalIds, chat }
}

const textOf = (frames: readonly Frame[]) =>
  frames
    .flatMap(({ type, delta }) => (type === 'text-delta' || type === 'TEXT_MESSAGE_CONTENT' ? [delta] : []))
    .join('')

const callsIn = (frames: readonly Frame[], types: readonly string[]) =>
  frames.flatMap(({ type, toolCallId }) => (types.includes(type) ? [toolCallId] : []))

describe('a client that answers the questions of a run one after another', () => {
  it('gets with the AI SDK only what follows its newest answer, also when it sends the answer again', async () => {
    const { send, approvalIds } = await started()
    const question = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }
    const [first] = await send('chat?v=7', { id: 'c1', messages: [question] })
    const part = (toolName: string, toolCallId: string, more: object) => ({
      ...{ type: 'dynamic-tool', toolName, toolCallId, input: {} },
      ...more,
    })
    const red = (id: string) => part('pickColor', id, { state: 'output-available', output: 'red' })
    const answer = (...parts: object[]) =>
      send('chat?v=7', { id: 'c1', messages: [question, { id: first?.messageId, role: 'assistant', parts }] })
    const shown = (frames: readonly Frame[]) => [
      textOf(frames),
      ...callsIn(frames, ['tool-input-available', 'tool-output-available']),
    ]

    expect(shown(await answer(red('call_1')))).toEqual(['You picked red. ', 'call_1', 'call_2'])
    expect(shown(await answer(red('call_1'), red('call_2')))).toEqual(['You picked red. ', 'call_2', 'call_3'])
    expect(shown(await answer(red('call_1'), red('call_2')))).toEqual(['You picked red. ', 'call_2', 'call_3'])
    const [id] = await approvalIds()
    const approved = part('order', 'call_3', { state: 'approval-responded', approval: { id, approved: true } })
    expect(shown(await answer(red('call_1'), red('call_2'), approved))).toEqual(['Ordered.', 'call_3'])
  })

  it('gets with AG-UI only what follows its newest answer, and none of the results that it has sent', async () => {
    const { send, approvalIds } = await started()
    const messages: object[] = [{ id: 'm1', role: 'user', content: 'go' }]
    const tools = [{ name: 'pickColor', description: 'Picks.', parameters: {} }]
    let runs = 0
    const run = async (more: object = {}) => {
      const base = { threadId: 't1', runId: `r${++runs}`, messages, tools, state: {}, context: [] }
      const frames = await send('ag-ui', { ...base, ...more })
      return [textOf(frames), ...callsIn(frames, ['TOOL_CALL_START', 'TOOL_CALL_RESULT'])]
    }
    const pick = (toolCallId: string) =>
      messages.push({ id: `${toolCallId}.mine`, role: 'tool', toolCallId, content: 'red' })

    expect(await run()).toEqual(['', 'call_1'])
    pick('call_1')
    expect(await run()).toEqual(['You picked red. ', 'call_2'])
    pick('call_2')
    expect(await run()).toEqual(['You picked red. ', 'call_3'])
    const [interruptId] = await approvalIds()
    const resume = [{ interruptId, status: 'resolved', payload: { approved: true } }]
    expect(await run({ resume })).toEqual(['Ordered.', 'call_3'])
  })

  it('answers two questions of the same moment together, each shown with its own arguments', async () => {
    const { send } = await started(shop)
    const question = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }
    const asked = await send('chat?v=7', { id: 'c1', messages: [question] })
    const calls = asked.filter(({ type }) => type === 'tool-input-available')
    expect(calls.map(({ toolName, title, input }) => [toolName, title, input])).toEqual([
      ['deliver', 'Deliver?', { what: 'cake' }],
      ['pickDay', undefined, { days: ['Monday'] }],
    ])
    const [approval] = asked.filter(({ type }) => type === 'tool-approval-request')
    expect(approval?.toolCallId).toBe(calls[0]?.toolCallId)
    const [delivers, picks] = calls.map(({ toolName, toolCallId, input }) => ({
      ...{ type: 'dynamic-tool', toolName, toolCallId, input },
    }))
    const decision = { id: approval?.approvalId, approved: true }
    const parts = [
      { ...delivers, state: 'approval-responded', approval: decision },
      { ...picks, state: 'output-available', output: 'Monday' },
    ]
    const message = { id: asked[0]?.messageId, role: 'assistant', parts }
    const frames = await send('chat?v=7', { id: 'c1', messages: [question, message] })

    const outputs = callsIn(frames, ['tool-output-available']).toSorted()
    expect([textOf(frames), outputs]).toEqual(['Delivered.', calls.map(({ toolCallId }) => toolCallId)])
  })

  it('is asked nothing any more when the run was aborted', async () => {
    const { send, chat } = await started(shop)
    const question = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }
    await send('chat?v=7', { id: 'c1', messages: [question] })
    await send('chat/c1/stop', {})
    const [, answer] = await chat('c1')

    const tools = answer?.parts.flatMap(({ toolName, state }) => (toolName === undefined ? [] : [[toolName, state]]))
    expect(tools).toEqual([
      ['deliver', 'output-denied'],
      ['pickDay', 'output-error'],
    ])
  })
})
