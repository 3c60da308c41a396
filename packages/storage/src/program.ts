/**
 * What a program asks the database for. A synchronous engine answers at once; an asynchronous one yields a promise, and
 * whoever runs the program continues it with the value.
 */
export interface Pending<T> {
  [Symbol.iterator](): Iterator<Promise<unknown>, T, unknown>
}

/** Code that reads or writes through a `Db`, on either kind of engine: `yield*` waits for what it asks. */
export type Program<T> = Generator<Promise<unknown>, T, unknown>

/** The answer of a synchronous engine: an iterator that is at its end. */
export const ready = <T>(value: T): Pending<T> => {
  const answer: IteratorReturnResult<T> & Iterator<never, T> & Pending<T> = {
    done: true,
    value,
    next: itself as () => IteratorReturnResult<T>,
    [Symbol.iterator]: itself as () => Iterator<never, T>,
  }
  return answer
}

function itself(this: unknown): unknown {
  return this
}

export const pending = <T>(promise: Promise<T>): Pending<T> => ({
  *[Symbol.iterator]() {
    return (yield promise) as T
  },
})

/** Runs a program of a synchronous engine. */
export function runNow<T>(program: Program<T>): T {
  const { done, value } = program.next()
  if (done !== true) throw new Error('a program of a synchronous engine must not wait')
  return value
}

/** Runs a program of an asynchronous engine. */
export async function runLater<T>(program: Program<T>): Promise<T> {
  let step = program.next()
  while (step.done !== true) {
    let value: unknown
    try {
      value = await step.value
    } catch (error) {
      step = program.throw(error)
      continue
    }
    step = program.next(value)
  }
  return step.value
}
