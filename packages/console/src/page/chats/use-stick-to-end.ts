import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/** A reader this close to the end reads the newest text. Pixels. */
const NEAR = 120

/** Keeps the end of a growing element in view, until the reader scrolls up. */
export function useStickToEnd(box: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    let isAtEnd = true
    const page = document.documentElement
    const onScroll = () => {
      isAtEnd = page.scrollHeight - innerHeight - scrollY < NEAR
    }
    const growth = new ResizeObserver(() => {
      if (isAtEnd) scrollTo(0, page.scrollHeight)
    })
    growth.observe(element)
    addEventListener('scroll', onScroll, { passive: true })
    return () => {
      growth.disconnect()
      removeEventListener('scroll', onScroll)
    }
  }, [])
}
