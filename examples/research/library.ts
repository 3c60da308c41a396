const BOOKS = [
  { title: 'Leaves', text: 'Tea comes from one plant, Camellia sinensis.' },
  { title: 'Kettles', text: 'Green tea is brewed at 80 degrees, black tea at 95.' },
]

/** In place of a search engine. */
export const library = {
  search(words: string) {
    const wanted = words.toLowerCase().split(/\W+/)
    return BOOKS.filter(({ text }) => wanted.some((word) => word.length > 4 && text.toLowerCase().includes(word)))
  },
}
