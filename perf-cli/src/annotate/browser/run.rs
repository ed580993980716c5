//! Annotated functions on the terminal, and the ways between them.

use std::io;

use perf_profile::annotation::Annotation;

use super::draw::draw;
use super::function_list::{FunctionList, HotFunction, ListStep};
use super::options::ViewOptions;
use super::request::AnnotationProvider;
use super::view::{AnnotationView, ViewStep};
use crate::outcome::Failure;
use crate::terminal::{self, Screen};

/// The largest number of functions that are open at the same time, each by an instruction of the one before.
const OPEN: usize = 64;

/// How the last function was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnnotationExit {
    /// What was shown before is wanted.
    Back,
    /// The program ends.
    Quit,
}

/// Shows a function, and the functions that the user goes to from there. Of the events, the one with the name is shown first; the
/// first one if the function has no samples of it.
///
/// # Errors
///
/// Those of the terminal.
pub(crate) fn show(
    screen: &mut Screen,
    annotation: Annotation,
    event: Option<&str>,
    provider: &mut dyn AnnotationProvider,
) -> io::Result<AnnotationExit> {
    let has_colors = terminal::has_colors();
    let mut open = vec![AnnotationView::new(annotation, event, ViewOptions::default())];
    loop {
        let is_full = open.len() >= OPEN;
        let Some(view) = open.last_mut() else { return Ok(AnnotationExit::Back) };
        screen.draw(|area, buffer| draw(view, has_colors, area, buffer))?;
        let Some(key) = screen.key()? else { continue };
        match view.update(key) {
            ViewStep::Stay => {}
            ViewStep::Suspend => screen.suspend()?,
            ViewStep::Quit => return Ok(AnnotationExit::Quit),
            ViewStep::Back => drop(open.pop()),
            ViewStep::Follow(_) if is_full => {
                view.message = "too many functions are open; ESC goes back".to_owned();
            }
            ViewStep::Follow(request) => match screen.pause(|| provider.annotate(&request))? {
                Ok(annotation) => {
                    let next = view.followed(annotation, &request);
                    open.push(next);
                }
                Err(why) => view.message = why,
            },
        }
    }
}

/// Lists functions on the terminal, and shows those that the user opens. A single function is opened at once, without a list.
///
/// # Errors
///
/// Those of the terminal, and of the provider if there is no list.
pub(crate) fn browse(
    functions: &[HotFunction],
    provider: &mut dyn AnnotationProvider,
) -> Result<(), Failure> {
    let failure = |error: io::Error| Failure(format!("terminal: {error}"));
    if let [only] = functions {
        let annotation = provider.annotate(&only.request).map_err(Failure)?;
        let mut screen = Screen::new().map_err(failure)?;
        return show(&mut screen, annotation, None, provider).map(drop).map_err(failure);
    }
    let mut screen = Screen::new().map_err(failure)?;
    list(&mut screen, functions, provider).map_err(failure)
}

fn list(
    screen: &mut Screen,
    functions: &[HotFunction],
    provider: &mut dyn AnnotationProvider,
) -> io::Result<()> {
    let has_colors = terminal::has_colors();
    let mut list = FunctionList::new(functions);
    loop {
        screen.draw(|area, buffer| list.draw(has_colors, area, buffer))?;
        let Some(key) = screen.key()? else { continue };
        match list.update(key) {
            ListStep::Stay => {}
            ListStep::Suspend => screen.suspend()?,
            ListStep::Quit => return Ok(()),
            ListStep::Open => {
                let Some(function) = list.selected() else { continue };
                match screen.pause(|| provider.annotate(&function.request))? {
                    Ok(annotation) => {
                        if show(screen, annotation, None, provider)? == AnnotationExit::Quit {
                            return Ok(());
                        }
                    }
                    Err(why) => list.message = why,
                }
            }
        }
    }
}
