/** The end of a part of the text that ends near `end` and does not separate the two halves of a character. */
export function endOfPart(text: string, end: number): number {
  const isHalf = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
  return isHalf ? end + 1 : end
}
