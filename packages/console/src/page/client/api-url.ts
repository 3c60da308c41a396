/** The URL of the API, which the server has written into the page. */
export const API_URL: string = new URL(
  document.querySelector<HTMLMetaElement>('meta[name="perdure-api"]')?.content ?? '../v1',
  document.baseURI,
).href.replace(/\/$/, '')
