import { tool } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { chatAgent } from './index.ts'
import { serverWith, userMessage } from './server.fixture.ts'
import { type ScriptedCall, scriptedModel } from './testing.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 60)

type Kind = 'plain' | 'look' | 'pay'
type Action =
  | { readonly type: 'send'; readonly tab: number; readonly kind: Kind }
  | { readonly type: 'edit' | 'regenerate'; readonly tab: number; readonly turn: number; readonly kind: Kind }
  | { readonly type: 'decide'; readonly isApproved: boolean }
  | { readonly type: 'reload'; readonly tab: number }
  | { readonly type: 'rest' }

/** A turn that model and page must show. */
interface Turn {
  readonly id: string
  readonly text: string
  readonly kind: Kind
  outcome: 'answered' | 'waiting' | 'approved' | 'denied'
}

const tab = fc.nat(1)
const kind = fc.constantFrom<Kind>('plain', 'look', 'pay')
const turn = fc.nat(6)
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('send' as const), tab, kind }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constantFrom('edit' as const, 'regenerate' as const), tab, turn, kind }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('decide' as const), isApproved: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('reload' as const), tab }) },
  { weight: 1, arbitrary: fc.constant({ type: 'rest' as const }) },
)

interface UiMessage {
  readonly id: string
  readonly role: string
  readonly parts: readonly { readonly type: string; readonly text?: string; readonly toolName?: string }[]
}

const answerLine = ({ text }: Turn) => `a re: ${text}`
const toolOf = (kindOfTurn: Kind) => (kindOfTurn === 'look' ? 'look' : 'pay')

/** What the prompt of a later turn has of this one. */
function promptOf(shown: Turn): readonly string[] {
  const { text, kind: asked, outcome } = shown
  if (asked === 'plain') return [`u ${text}`, answerLine(shown)]
  const call = [`u ${text}`, `c ${toolOf(asked)}`]
  if (asked === 'look') return [...call, 'r json', answerLine(shown)]
  if (outcome === 'waiting') return [...call, 'r error-text']
  return [...call, outcome === 'approved' ? 'r json' : 'r execution-denied', answerLine(shown)]
}

function pageOf(shown: Turn): readonly string[] {
  const tools = shown.kind === 'plain' ? [] : [`t ${toolOf(shown.kind)}`]
  return [`u ${shown.text}`, ...tools, ...(shown.outcome === 'waiting' ? [] : [answerLine(shown)])]
}

type PromptPart = {
  readonly type: string
  readonly text?: string
  readonly toolName?: string
  readonly toolCallId?: string
  readonly output?: { readonly type: string }
}

function linesOf({ prompt }: ScriptedCall): readonly string[] {
  const open = new Set<string>()
  const lines = prompt.flatMap(({ role, content }) => {
    if (role !== 'tool' && open.size > 0) throw new Error(`calls without a result: ${[...open].join()}`)
    return (content as readonly PromptPart[]).map(({ type, text, toolName, toolCallId = '', output }) => {
      if (type === 'tool-call') open.add(toolCallId)
      if (type === 'tool-result' && !open.delete(toolCallId))
        throw new Error(`a result without its call: ${toolCallId}`)
      if (type === 'tool-call') return `c ${toolName}`
      return type === 'tool-result' ? `r ${output?.type}` : `${role[0]} ${text}`
    })
  })
  if (open.size > 0) throw new Error('the prompt ends with a call')
  return lines
}

async function openShop() {
  const calls: ScriptedCall[] = []
  const execute = () => ({ ok: true })
  const inputSchema = z.object({})
  const model = scriptedModel(
    ({ text, toolResults }) => {
      const asked = text.split(' ')[0]
      if (asked === 'plain' || toolResults.length > 0) return `re: ${text}`
      return { toolName: asked ?? '', input: {} }
    },
    { onCall: (call) => calls.push(call) },
  )
  const shop = chatAgent({
    id: 'shop',
    model,
    tools: {
      look: tool({ inputSchema, execute }),
      pay: tool({ inputSchema, execute, needsApproval: true }),
    },
  })
  return { calls, ...(await serverWith([shop])) }
}

type Shop = Awaited<ReturnType<typeof openShop>>

async function perform(shop: Shop, actions: readonly Action[]): Promise<void> {
  const chatId = 'chat'
  let branch: Turn[] = []
  let count = 0
  const views: (readonly UiMessage[])[] = [[], []]
  const page = () => shop.get<readonly UiMessage[]>(`/agents/shop/chat/${chatId}/messages`)

  const begin = async (view: readonly UiMessage[], asked: Turn, more: object, tabNumber: number) => {
    // A message supersedes the questions that are open.
    for (const earlier of branch) if (earlier.outcome === 'waiting') earlier.outcome = 'denied'
    branch.push(asked)
    const before = shop.calls.length
    const messages = [...view, userMessage(asked.id, asked.text)]
    await shop.chat('shop', { id: chatId, messages, ...more })
    const earlier = branch.slice(0, -1).flatMap(promptOf)
    const own = shop.calls.slice(before).map(linesOf)
    expect(own).toContainEqual([...earlier, `u ${asked.text}`])
    views[tabNumber] = (await page()).slice()
  }

  const newTurn = (of: Kind, id = `m${++count}`): Turn => ({
    ...{ id, text: `${of} ${++count}`, kind: of },
    outcome: of === 'pay' ? 'waiting' : 'answered',
  })

  const replace = async ({
    type,
    tab: number,
    turn: index,
    kind: of,
  }: Extract<Action, { type: 'edit' | 'regenerate' }>) => {
    const view = views[number] ?? []
    const users = view.filter(({ role }) => role === 'user')
    const target = users[index % Math.max(1, users.length)]
    const at = branch.findIndex(({ id }) => id === target?.id)
    // A page that shows a turn that another tab has replaced is loaded again first.
    if (target === undefined || at === -1) return
    const old = branch[at] as Turn
    branch = branch.slice(0, at)
    const asked = type === 'edit' ? newTurn(of, old.id) : { ...newTurn(old.kind, old.id), text: old.text }
    const kept = view.slice(0, view.indexOf(target))
    const answer = view[view.indexOf(target) + 1]
    const more =
      type === 'edit'
        ? { trigger: 'submit-message', messageId: old.id }
        : { trigger: 'regenerate-message', messageId: answer?.id }
    await begin(kept, asked, more, number)
  }

  const decide = async (isApproved: boolean) => {
    const { items } = await shop.get<{ readonly items: readonly { readonly id: string; readonly runId: string }[] }>(
      '/approvals?status=pending&order=asc',
    )
    const waiting = branch.filter(({ outcome }) => outcome === 'waiting')
    expect(items).toHaveLength(waiting.length)
    const [first] = items
    if (first === undefined || waiting[0] === undefined) return
    await shop.get(`/approvals/${first.id}/resolve`, { approved: isApproved })
    const statusOf = async () => (await shop.get<{ readonly status: string }>(`/runs/${first.runId}`)).status
    await expect.poll(statusOf, { interval: 1 }).toBe('completed')
    waiting[0].outcome = isApproved ? 'approved' : 'denied'
  }

  for (const one of actions) {
    if (one.type === 'send') await begin(views[one.tab] ?? [], newTurn(one.kind), {}, one.tab)
    else if (one.type === 'reload') views[one.tab] = await page()
    else if (one.type === 'decide') await decide(one.isApproved)
    else if (one.type !== 'rest') await replace(one)
    const shown = (await page()).flatMap(({ role, parts }) =>
      parts.flatMap(({ type, text, toolName }) => {
        if (type === 'text') return [`${role[0]} ${text}`]
        return type.startsWith('tool-') || type === 'dynamic-tool' ? [`t ${toolName ?? type.slice(5)}`] : []
      }),
    )
    expect(shown).toEqual(branch.flatMap(pageOf))
  }
}

describe('a conversation', () => {
  it('has the same turns in prompt and page after random sends, edits, regenerations and decisions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 3, maxLength: 14 }), async (actions) => {
        const shop = await openShop()
        try {
          await perform(shop, actions)
        } finally {
          await shop.stop()
        }
      }),
      { numRuns: HISTORIES, endOnFailure: false },
    )
  }, 580_000)
})
