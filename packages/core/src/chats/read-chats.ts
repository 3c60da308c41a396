import {
  EVERY_ROW,
  type ListedChat,
  type ListedRun,
  type Page,
  type PageQuery,
  type RunStore,
  type Visibility,
} from '@perdure/ports'
import { eachItem } from '../collections/each-item.ts'
import type { WaitingFor } from '../runs/run-outcome.ts'
import { type WaitReads, waitPages } from '../runs/waiting-for.ts'
import type { RunTargets } from '../targets/run-target.ts'
import { type ChatResource, type ChatWork, toChatResource } from './chat-resource.ts'
import { type ChatName, type FindChatDeps, findChat } from './find-chat.ts'

export interface ReadChatsDeps extends FindChatDeps, WaitReads {
  readonly runs: Pick<RunStore, 'list'>
  readonly targets: Pick<RunTargets, 'get'>
}

/** Reads chats for the API. A caller who sees a chat also sees what its turn does. */
export interface ReadChats {
  /** @throws PerdureError `agent-not-found` */
  list(agentId: string, page: PageQuery, visibility: Visibility): Promise<Page<ChatResource>>
  /** @throws PerdureError `session-not-found` */
  get(name: ChatName): Promise<ChatResource>
}

export function createReadChats(deps: ReadChatsDeps): ReadChats {
  return {
    async list(agentId, page, visibility) {
      deps.targets.get('agent', agentId)
      const { items, nextCursor } = await deps.chats.list({ agentId }, page, visibility)
      return { items: await toResources(deps, items), nextCursor }
    },
    get: async (name) => toResource(deps, await findChat(deps, name)),
  }
}

export type DescribeChatDeps = Pick<ReadChatsDeps, 'runs' | 'steps' | 'approvals' | 'yieldTurn'>

export async function toResource(deps: DescribeChatDeps, chat: ListedChat): Promise<ChatResource> {
  const [resource] = await toResources(deps, [chat])
  return resource ?? toChatResource(chat, NO_WORK)
}

type TurnAtWork = ListedRun<'suspension' | 'resumption'>

const NO_WORK: ChatWork = { waitingFor: [] }
const CONTENT = ['suspension', 'resumption'] as const

/** One read for the turns of all chats, and one for each turn that waits. */
async function toResources(deps: DescribeChatDeps, chats: readonly ListedChat[]): Promise<readonly ChatResource[]> {
  const ids = chats.flatMap(({ workingRunId: id }) => (id === undefined ? [] : [id]))
  const runs = new Map<string, TurnAtWork>()
  const read = (cursor?: string) =>
    deps.runs.list({ ids }, { limit: 200, order: 'asc', cursor, content: CONTENT }, EVERY_ROW)
  if (ids.length > 0) for await (const run of eachItem(read)) runs.set(run.id, run)
  const resources: ChatResource[] = []
  for (const chat of chats) resources.push(toChatResource(chat, await workOf(deps, runs.get(chat.workingRunId ?? ''))))
  return resources
}

async function workOf(deps: DescribeChatDeps, run: TurnAtWork | undefined): Promise<ChatWork> {
  if (run === undefined) return NO_WORK
  return { run, waitingFor: run.status === 'suspended' ? await firstWaits(deps, run) : [] }
}

const MAX_WAITS = 20

async function firstWaits(deps: WaitReads, run: TurnAtWork): Promise<readonly WaitingFor[]> {
  const waits: WaitingFor[] = []
  for await (const page of waitPages(deps, run)) {
    waits.push(...page)
    if (waits.length >= MAX_WAITS) break
  }
  return waits.slice(0, MAX_WAITS)
}
