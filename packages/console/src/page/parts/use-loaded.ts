import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Failure, failureOf } from '../client/failure.ts'

/** Data from the server: the last that was read stays while it is read again. */
export interface Loaded<Data> {
  readonly data: Data | undefined
  readonly failure: Failure | undefined
  readonly isLoading: boolean
  readonly reload: () => void
  readonly change: (change: (data: Data) => Data) => void
}

/** Reads when the page opens and whenever `keys` change. */
export function useLoaded<Data>(read: () => Promise<Data>, keys: readonly unknown[]): Loaded<Data> {
  const [state, setState] = useState<Pick<Loaded<Data>, 'data' | 'failure' | 'isLoading'>>({
    data: undefined,
    failure: undefined,
    isLoading: true,
  })
  const latest = useRef(0)
  const reload = useCallback(() => {
    const turn = ++latest.current
    setState((before) => ({ ...before, isLoading: true }))
    read().then(
      (data) => turn === latest.current && setState({ data, failure: undefined, isLoading: false }),
      (error) =>
        turn === latest.current && setState((before) => ({ ...before, failure: failureOf(error), isLoading: false })),
    )
  }, keys)
  useEffect(() => {
    setState({ data: undefined, failure: undefined, isLoading: true })
    reload()
    return () => void latest.current++
  }, [reload])
  const change = useCallback(
    (update: (data: Data) => Data) =>
      setState((before) => (before.data === undefined ? before : { ...before, data: update(before.data) })),
    [],
  )
  return { ...state, reload, change }
}
