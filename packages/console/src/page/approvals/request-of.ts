interface Asked {
  readonly payload?: unknown
  readonly args?: unknown
}

/** All that an approval allows: its payload, and the arguments of the tool call unless the payload has them. */
export function requestOf({ payload, args }: Asked): unknown {
  if (args === undefined || isSame(payload, args) || isSame(argsIn(payload), args)) return payload
  return payload === undefined ? args : { payload, args }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const argsIn = (payload: unknown): unknown =>
  typeof payload === 'object' && payload !== null && 'args' in payload ? payload.args : undefined
