import { expect } from 'vitest'
import type { Action, History } from './actions.fixture.ts'
import { type Branch, createBranch } from './branch.fixture.ts'
import { playBusyTurn } from './busy-turn.fixture.ts'
import { createChatClient } from './chat-client.fixture.ts'
import { pageOf, userLines } from './expected.fixture.ts'
import { createPage, type UiMessage, type UiPart } from './page.fixture.ts'
import type { World } from './server-world.fixture.ts'
import { shopId } from './shop.fixture.ts'

/**
 * Plays the history, and checks after each action what page and prompts contain.
 *
 * @param name tells the histories of one server apart
 */
export async function play(world: World, { actions, compacts }: History, name = ''): Promise<void> {
  const agentId = shopId(compacts)
  const client = createChatClient(world, { agentId, name })
  const page = createPage(world, agentId)
  let chatId = `chat-${name}-0`
  let branch = createBranch()
  const left: { readonly chatId: string; readonly lines: readonly string[] }[] = []
  const views: (readonly UiMessage[])[] = [[], []]

  /** A chat that was forked may have runs that wait. */
  const runs = async () => (branch.turns.length === 0 ? [] : client.runsOf(chatId))
  const settled = () =>
    world.until(async () => {
      const all = await runs()
      const queued = all.filter(({ status }) => status === 'queued')
      return queued.length === branch.queued.length && all.every(({ status }) => status !== 'running')
    })
  const waitingRun = async () => (await runs()).find(({ status }) => status === 'suspended')

  const perform: { readonly [T in Action['type']]: (action: Extract<Action, { type: T }>) => Promise<void> } = {
    async send({ kind, file, via, tab }) {
      const message = client.newMessage(kind, file)
      branch.begin([message])
      await client.start(message, { chatId, via: branch.turns.length === 1 ? 'page' : via, view: views[tab] ?? [] })
    },
    edit: (action) => replace(action),
    regenerate: (action) => replace(action),
    async decide({ isApproved }) {
      if (branch.waiting()?.kind !== 'pay') return
      const { id } = (await waitingRun()) ?? {}
      const approvals = await client.get<{ readonly items: readonly { readonly id: string }[] }>(
        `/approvals?status=pending&runId=${id}`,
      )
      expect(approvals.items).toHaveLength(1)
      await client.post(`/approvals/${approvals.items[0]?.id}/resolve`, { approved: isApproved })
      branch.end(isApproved ? 'answered' : 'denied')
    },
    async answer() {
      if (branch.waiting()?.kind !== 'ask') return
      const shown = await page.messages(chatId)
      const asking = shown.findIndex(({ parts }) => parts.some(isOpenQuestion))
      const messages = shown.slice(0, asking + 1).map((one) => ({ ...one, parts: one.parts.map(answered) }))
      await client.stream({ id: chatId, trigger: 'submit-message', messages })
      branch.end('answered')
    },
    async stop() {
      if (branch.waiting() === undefined) return
      await client.post(`/runs/${(await waitingRun())?.id}/abort`, {})
      branch.end('stopped')
    },
    busy: (action) => playBusyTurn({ world, client, page, branch, chatId }, action),
    // Each action reads the page of its tab again.
    reload: () => Promise.resolve(),
    async fork({ message }) {
      const shown = await page.messages(chatId)
      const answers = shown.filter(({ role }) => role === 'assistant')
      const target = answers[message % Math.max(1, answers.length)]
      const fork = target === undefined ? undefined : branch.upTo(page.before(shown, target))
      if (target === undefined || fork === undefined) return
      left.push({ chatId, lines: shownBy(branch) })
      const id = `chat-${name}-${left.length}`
      await client.post(`/agents/${agentId}/chats/${chatId}/fork`, { chatId: id, messageId: target.id }, 201)
      chatId = id
      branch = fork
      views.fill([])
    },
  }

  const replace = async ({ type, tab, message, kind }: Extract<Action, { type: 'edit' | 'regenerate' }>) => {
    const view = views[tab] ?? []
    const users = view.filter(({ role }) => role === 'user')
    const target = users[message % Math.max(1, users.length)]
    // A page that shows a turn that another tab has replaced is loaded again first.
    if (target === undefined || !branch.has(page.textOf(target))) return
    const kept = view.slice(0, view.indexOf(target))
    if (type === 'edit') {
      const edited = client.newMessage(kind)
      branch.edit(page.textOf(target), edited)
      const messages = [...kept, { id: target.id, role: 'user', parts: [{ type: 'text', text: edited.text }] }]
      await client.stream({ id: chatId, trigger: 'submit-message', messageId: target.id, messages })
      return
    }
    const answer = view.slice(kept.length).find(({ role }) => role === 'assistant')
    if (answer === undefined) return
    // The same goes for the other messages of the turn, which another tab may have edited.
    const asked = view.slice(kept.length, view.indexOf(answer))
    if (!asked.every((one) => branch.has(page.textOf(one)))) return
    branch.regenerate(page.textOf(target))
    const messages = view.slice(0, view.indexOf(answer))
    await client.stream({ id: chatId, trigger: 'regenerate-message', messageId: answer.id, messages })
  }

  for (const action of actions) {
    const before: Branch = branch.copy()
    const [prompts, effects] = [world.prompts().length, world.effects().length]
    if (action.crash !== undefined) world.killSoon(action.crash)
    await perform[action.type](action as never)
    await settled()
    const kills = await world.surviveFromNow()
    if (kills > 0) await settled()

    const shown = await page.messages(chatId)
    if ('tab' in action) views[action.tab] = shown
    expect(await page.linesOf(shown)).toEqual(shownBy(branch))
    const asked = world
      .prompts()
      .slice(prompts)
      .map((lines) => lines.join('\n'))
    const wanted = branch.callsSince(before).map((lines) => lines.join('\n'))
    expect([...new Set(asked)].sort()).toEqual([...wanted].sort())
    expect(asked.length).toBeLessThanOrEqual(wanted.length + kills)
    const done = world.effects().slice(effects)
    expect(done.length - new Set(done).size).toBeLessThanOrEqual(kills)
    const queue = await client.get<{ readonly items: readonly unknown[] }>(`/agents/${agentId}/chat/${chatId}/queue`)
    if (branch.turns.length > 0) expect(queue.items).toHaveLength(branch.queued.length)
  }
  for (const { chatId: id, lines } of left) expect(await page.linesOf(await page.messages(id))).toEqual(lines)
}

const shownBy = ({ turns, queued }: Branch) => [...turns.flatMap(pageOf), ...userLines(queued)]
const isOpenQuestion = ({ type, state }: UiPart) => type === 'tool-ask' && state === 'input-available'
const answered = (part: UiPart) =>
  isOpenQuestion(part) ? { ...part, state: 'output-available', output: { ok: true } } : part
