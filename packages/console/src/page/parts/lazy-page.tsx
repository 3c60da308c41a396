import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type Failure, failureOf } from '../client/failure.ts'
import { FailureNote, Heading } from './basics.tsx'

type Draw<Props> = (props: Props) => ComponentChildren

/** A page whose code is loaded when it is opened for the first time. @param label its heading until then */
export function lazyPage<Props extends object>(label: string, load: () => Promise<Draw<Props>>) {
  let loaded: Draw<Props> | undefined
  return function LazyPage(props: Props) {
    const [page, setPage] = useState<{ readonly draw: Draw<Props> } | undefined>(loaded && { draw: loaded })
    const [failure, setFailure] = useState<Failure | undefined>(undefined)
    const read = () => {
      setFailure(undefined)
      load().then(
        (draw) => {
          loaded = draw
          setPage({ draw })
        },
        (error: unknown) => setFailure(notLoaded(error)),
      )
    }
    useEffect(() => {
      if (page === undefined) read()
    }, [])
    if (page !== undefined) return <page.draw {...props} />
    return (
      <>
        <Heading title={label} />
        {failure === undefined ? (
          <p class="quiet loading">Loading…</p>
        ) : (
          <FailureNote failure={failure} onRetry={read} />
        )}
      </>
    )
  }
}

const notLoaded = (error: unknown): Failure => ({
  ...failureOf(error),
  ...{ code: 'page-not-loaded', message: 'The code of this page could not be loaded' },
  hint: 'reload the console; the server may be away, or have another version now',
})
