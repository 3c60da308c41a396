/** Whether users of an identity provider can sign in. */
export const hasProvider: boolean =
  document.querySelector<HTMLMetaElement>('meta[name="perdure-sign-in"]')?.content === 'provider'

const RETURN_KEY = 'perdure-return'

/** Begins a sign-in at the provider, which comes back to the page that is open now. */
export function signInWithProvider(): void {
  sessionStorage.setItem(RETURN_KEY, location.hash)
  location.assign('./login')
}

/** Opens the page from which a sign-in began, if this is the way back from the provider. */
export function returnFromProvider(): void {
  const hash = sessionStorage.getItem(RETURN_KEY)
  sessionStorage.removeItem(RETURN_KEY)
  if (hash !== null && hash !== '' && location.hash === '') location.replace(hash)
}

/** Ends the session at the provider, too: otherwise the next sign-in would ask for nothing. */
export const signOutAtProvider = (): void => location.assign('./logout')

/** Whether a user of the provider has signed in. */
export const isOfProvider = (subject: string): boolean => subject.startsWith('oidc:')
