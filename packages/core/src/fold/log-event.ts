/** An event of a run, as the API delivers it. */
export interface LogEvent {
  readonly eventId: string
  readonly type: string
  readonly payload: unknown
  readonly at: string
}

export type Fields = Readonly<Record<string, unknown>>

/** The members of the payload; empty for a payload that is not an object, because agents choose their payloads. */
export const fieldsOf = ({ payload }: LogEvent): Fields => (isFields(payload) ? payload : {})

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The member if it is a text. */
export function textIn(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' ? value : undefined
}

export function numberIn(fields: Fields, name: string): number | undefined {
  const value = fields[name]
  return typeof value === 'number' ? value : undefined
}
