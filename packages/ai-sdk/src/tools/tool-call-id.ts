const TAKEN = new WeakMap<object, Map<string, number>>()
const VISIBLE = /^[\x21-\x7e]{1,120}$/

/** The id of the model's call, with a number if the model has used it before in this execution. */
export function takeId(ctx: object, id: string | undefined): string | undefined {
  if (id === undefined || !VISIBLE.test(id)) return undefined
  const taken = TAKEN.get(ctx) ?? new Map<string, number>()
  TAKEN.set(ctx, taken)
  const count = (taken.get(id) ?? 0) + 1
  taken.set(id, count)
  return count === 1 ? id : `${id}.${count}`
}
