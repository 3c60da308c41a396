import type { EventPayloads, EventType } from '@perdure/protocol'
import type { Event } from './subscription.ts'

export type { EventPayloads, EventType } from '@perdure/protocol'

/** An event of a type that the server defines, with the type of its payload. */
export type EventOf<Type extends EventType> = Event & {
  readonly type: Type
  readonly payload: EventPayloads[Type]
}

/** Whether the event has the type. Narrows its payload. */
export const isEvent = <Type extends EventType>(event: Event, type: Type): event is EventOf<Type> => event.type === type
