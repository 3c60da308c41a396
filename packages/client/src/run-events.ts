import { PerdureError } from '@perdure/protocol/error'
import { REPLAY_GAP } from './protocol-tables.ts'
import type { CallOptions } from './send-request.ts'
import type { Event, Gap, SubscribeOptions, Subscription } from './subscription.ts'

export interface FollowOptions extends SubscribeOptions {
  /** Called where events are no longer available; without it, the iteration throws there. */
  readonly onGap?: ((gap: Gap) => void) | undefined
}

/** The options of the call that starts the run, and of the events that follow. */
export type StreamOptions = Omit<CallOptions, 'prefer'> & Omit<FollowOptions, 'lastEventId'>

/**
 * The events of one run: each once, in order, up to the event that ends the run. Can be iterated once. A lost connection
 * does not end the iteration. Leaving the loop, or aborting the signal, ends the iteration and not the run.
 */
export interface RunEvents extends AsyncIterable<Event> {
  /** Id of the last event yielded. Pass it to `runs.follow` to resume later. */
  readonly lastEventId: string | undefined
}

/** The events of a run that was started with the call. */
export interface RunStream<Started> extends RunEvents {
  /** The server's answer to the start, with the id of the run. Rejects if the run was not started. */
  readonly started: Promise<Started>
}

/**
 * @param subscribe opens the subscription to the subject of the run
 * @param findSubject finds that subject; called when the iteration starts
 */
export function openRunEvents(
  subscribe: (subject: string, options: SubscribeOptions) => Subscription,
  findSubject: () => Promise<string>,
  options: FollowOptions,
): RunEvents {
  const { onGap = throwGap } = options
  let lastEventId = options.lastEventId

  async function* iterate() {
    try {
      for await (const item of subscribe(await findSubject(), options)) {
        if (item.type === 'event') {
          lastEventId = item.event.eventId
          yield item.event
        } else onGap(item)
      }
    } catch (error) {
      if (options.signal?.aborted !== true) throw error
    }
  }
  const events = iterate()

  return {
    get lastEventId() {
      return lastEventId
    },
    [Symbol.asyncIterator]: () => events,
  }
}

function throwGap({ lastEventId }: Gap): never {
  throw new PerdureError(REPLAY_GAP, `Events after ${lastEventId} are no longer available.`, {
    hint: 'Pass onGap to skip them.',
  })
}
