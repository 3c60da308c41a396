import type { LogEvent } from '@perdure/core'
import type { ListedRun, RunRecord } from '@perdure/ports'
import { jsonSize } from '@perdure/protocol'
import { TRUNCATED, type Truncation } from '../chat/log-limit.ts'
import { beginLog, type RunLogDeps, readLog } from '../chat/run-log.ts'
import { createAnswerItems, inputItems } from './input-items.ts'
import type { ListQuery } from './lists.ts'
import { messageItem, type OutputItem } from './output-items.ts'
import { createSegmentProjector, type SegmentProjector } from './response-projector.ts'
import { viewOf } from './response-reader.ts'
import { createSegments } from './segments.ts'

/** As if the client had every event: only the items are used. */
const NO_FRAMES = Number.POSITIVE_INFINITY

/** The input and the output of every response of the run, from one fold of its log. */
async function itemsOfRun(deps: RunLogDeps, run: RunRecord): Promise<readonly OutputItem[]> {
  const segments = createSegments(run.id)
  const answers = createAnswerItems()
  const items = [...inputItems(run)]
  const respond = (segment: number) => createSegmentProjector(viewOf({ run, segment }), segments, NO_FRAMES)
  let response = respond(1)
  const close = (closed: SegmentProjector, segment: number) => {
    closed.rest()
    if (closed.response() === undefined) return
    const scope = segment === 1 ? run.id : `${run.id}-${segment}`
    items.push(...[...answers.of(segment), ...closed.items()].map((item) => withOwnId(item, scope)))
  }
  let mark: OutputItem | undefined
  await readLog(deps, run, await beginLog(deps, run), (event) => {
    if (event.type === TRUNCATED) mark = truncationItem(run, event)
    const before = segments.fold()
    const begins = segments.next(event)
    answers.next(event, begins, segments.current())
    if (segments.fold() === before) return
    response.show(before, event)
    if (!begins) return
    close(response, segments.current() - 1)
    response = respond(segments.current())
    response.show(before, event)
  })
  close(response, segments.current())
  return mark === undefined ? items : [...items, mark]
}

/**
 * Code may give the same ids to messages and calls in every run, but clients page through the items of a conversation by
 * their ids. Approvals have ids of their own, by which clients decide them.
 */
const withOwnId = (item: OutputItem, scope: string): OutputItem =>
  String(item.type).startsWith('mcp_approval') ? item : { ...item, id: `${item.id}.${scope}` }

/** Says that items are missing, and where they are. */
function truncationItem({ id }: RunRecord, { payload }: LogEvent): OutputItem {
  const { message, rest } = payload as Truncation
  return messageItem(`msg_${id}.truncated`, { text: `[${message}; GET ${rest} returns the rest]` }, 'incomplete')
}

export interface ItemPage {
  readonly items: readonly OutputItem[]
  readonly hasMore: boolean
}

const DEFAULT_LIMIT = 20

/**
 * A page of the items of several runs. Reads one run after another and stops at the end of the page, which is also there
 * where the answer would be too long.
 *
 * @param runs in the order of the list
 */
export async function readItemPage(
  deps: RunLogDeps,
  runs: readonly Pick<ListedRun, 'id'>[],
  find: (id: string) => Promise<RunRecord | undefined>,
  { limit = DEFAULT_LIMIT, order = 'desc', after }: ListQuery,
): Promise<ItemPage> {
  const first = createPage(limit, deps.maxAnswerBytes)
  const rest = createPage(limit, deps.maxAnswerBytes)
  let isFound = after === undefined
  for (const { id } of runs) {
    const run = await find(id)
    if (run === undefined) continue
    const oldestFirst = await itemsOfRun(deps, run)
    const items = order === 'asc' ? oldestFirst : oldestFirst.toReversed()
    const last = isFound ? -1 : items.findIndex((item) => item.id === after)
    isFound ||= last >= 0
    for (const item of items.slice(last + 1)) (isFound ? rest : first).add(item)
    if (rest.page().hasMore) break
  }
  // An id that no item has is the same as none.
  return isFound ? rest.page() : first.page()
}

function createPage(limit: number, maxBytes: number) {
  const items: OutputItem[] = []
  let bytes = 0
  let hasMore = false
  return {
    add(item: OutputItem) {
      if (hasMore) return
      bytes += jsonSize(item, Number.POSITIVE_INFINITY)?.bytes ?? 0
      hasMore = items.length === limit || (items.length > 0 && bytes > maxBytes)
      if (!hasMore) items.push(item)
    },
    page: (): ItemPage => ({ items, hasMore }),
  }
}
