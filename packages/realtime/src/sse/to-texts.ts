/** Joins short blocks. A long one is a text of its own, so that it is not copied together with the others. */
export function toTexts(blocks: readonly string[], maxLength: number): readonly string[] {
  const texts: string[] = []
  let joined = ''
  for (const block of blocks) {
    if (joined !== '' && joined.length + block.length > maxLength) {
      texts.push(joined)
      joined = ''
    }
    joined += block
  }
  texts.push(joined)
  return texts
}
