import type { Db, Query } from './dialect.ts'

const MAX_VARIANTS = 256

/** The queries of one engine whose conditions vary, by name. */
export function createVariants(): Db['variant'] {
  const variants = new Map<string, Query<never, unknown>>()
  return <Values, Row>(name: string, build: () => Query<Values, Row>) => {
    const known = variants.get(name)
    if (known !== undefined) return known as Query<Values, Row>
    if (variants.size === MAX_VARIANTS) variants.clear()
    const built = build()
    variants.set(name, built)
    return built
  }
}
