/** Writes the characters that change the order in which a text is shown as escapes, so that it reads as it is. */
export const withVisibleOrder = (text: string): string =>
  text.replaceAll(/\p{Bidi_Control}/gu, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
