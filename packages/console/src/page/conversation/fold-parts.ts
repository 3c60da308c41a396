import type { MessagePart } from './message-parts.ts'

export type Fields = Readonly<Record<string, unknown>>

/** The parts of a run so far, in the order in which they began. */
export interface Parts {
  put(part: MessagePart): void
  find<Kind extends MessagePart['kind']>(
    kind: Kind,
    id: unknown,
  ): Extract<MessagePart, { readonly kind: Kind }> | undefined
  list(): readonly MessagePart[]
}

export function createParts(): Parts {
  const parts = new Map<string, MessagePart>()
  return {
    put: (part) => void parts.set(`${part.kind} ${part.id}`, part),
    find: <Kind extends MessagePart['kind']>(kind: Kind, id: unknown) =>
      parts.get(`${kind} ${String(id)}`) as Extract<MessagePart, { readonly kind: Kind }> | undefined,
    list: () => [...parts.values()],
  }
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
